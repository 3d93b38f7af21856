#pragma once
// Exchange: how a handler answers one request, now or an hour later.
//
// It is a small handle that may be copied and captured freely. The connection alone owns what is
// behind it, and when the response is complete or the client is gone, every copy goes stale: calls
// then do nothing, and write() says `gone`. So a late answer needs no check, no table of ids and no
// order of destruction between runs and server, and it cannot reach the next request by mistake.
// (The weak_ptr inside shares nothing: it is a pointer that knows when its target has died.)
//
// Answer with respond() once, or with begin_stream(), write()..., end(). A handler that does
// neither leaves its client waiting.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "supervisor/http/response.hpp"

namespace paddock::supervisor {

class Connection;

// Who connected, as the kernel recorded it at connect(). The pid may be reused by now.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  std::vector<gid_t> gids;  // the primary one first
  bool over_tcp = false;    // then nothing is known of it, and the others are nobody's

  bool operator==(const Peer&) const = default;
};

// What became of written bytes.
enum class WriteResult {
  accepted,  // go on
  full,      // accepted, but the client's queue is over its high-water mark: wait for on_drained
  gone,      // the exchange is over; the bytes were dropped
};

class Exchange {
 public:
  Exchange();  // already over, and nobody's
  Exchange(std::weak_ptr<Connection*> connection, std::shared_ptr<const Peer> peer);

  // False once the response is complete or the client is gone.
  bool is_open() const;
  // Valid also when the exchange is over.
  const Peer& peer() const { return *peer_; }

  // The whole response. Ends the exchange.
  void respond(const Response& response) const;

  // A response of unknown length: chunks, or for an HTTP/1.0 client up to the close.
  void begin_stream(const StreamHead& head) const;
  // Sends at once; nothing is merged. Only after begin_stream().
  WriteResult write(std::string_view bytes) const;
  // Ends the exchange.
  void end() const;

  // Gives up: closes the connection, so that the client cannot take what it has for all of it.
  // on_client_gone is not called.
  void abort() const;

  // `on_drained` is called each time the queue has emptied after write() said `full`.
  // `on_client_gone` is called once if the client disappears, or is given up for not reading,
  // before respond() or end(); the exchange is over by then. Both come from the loop, never from
  // within a call made here. Either is dropped when the exchange ends, so it may own what it needs.
  void on_drained(std::function<void()> on_drained) const;
  void on_client_gone(std::function<void()> on_client_gone) const;

 private:
  Connection* connection() const;

  std::weak_ptr<Connection*> connection_;
  std::shared_ptr<const Peer> peer_;  // shared: it may be in thousands of groups
};

}  // namespace paddock::supervisor
