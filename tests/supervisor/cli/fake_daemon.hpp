#pragma once
// FakeDaemon: a server in a thread whose answers a test writes byte by byte, to see what the client
// does with a daemon that is slow, strange or gone.

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernel/base/fd.hpp"

struct FakeRequest {
  std::string method;
  std::string target;
  std::string body;
};

// One connection; a handler writes its answer to it.
class FakeConnection {
 public:
  explicit FakeConnection(int fd) : fd_(fd) {}

  void write(std::string_view bytes) const;
  void respond(int status, std::string_view body) const;  // whole, with Content-Length
  void begin_chunks() const;                              // 200 and chunked
  void chunk(std::string_view bytes) const;
  void end_chunks() const;
  void wait_for_client_gone() const;

 private:
  int fd_;
};

class FakeDaemon {
 public:
  // The connection stays open for more requests while the handler returns true. Handlers of several
  // connections run at the same time.
  using Handler = std::function<bool(const FakeRequest&, const FakeConnection&)>;
  explicit FakeDaemon(Handler handler);
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  const std::string& socket() const { return socket_; }
  std::vector<FakeRequest> requests() const;

 private:
  void accept_all();
  void serve(paddock::kernel::Fd client);

  Handler handler_;
  std::string directory_;
  std::string socket_;
  paddock::kernel::Fd listener_;
  mutable std::mutex mutex_;
  std::vector<FakeRequest> requests_;
  std::vector<std::thread> connections_;
  std::thread acceptor_;
};

// One answer to everything.
FakeDaemon::Handler answering(int status, const std::string& body);
