#pragma once
// EventStream: one client's way through the ledger's events, a page at a time. A page is read off
// the loop when the last one has left; a client that falls behind is read for again, from where it
// is. Nothing is queued for it but the page.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/http/exchange.hpp"
#include "supervisor/http/request.hpp"
#include "supervisor/ledger/ledger.hpp"
#include "supervisor/loop/timer.hpp"

namespace paddock::supervisor {

struct EventQuery {
  std::optional<std::uint64_t> after;  // absent: from the oldest kept event
  bool follow = false;
  std::string kind_prefix;
  std::optional<std::uint64_t> limit;
  std::optional<std::string> tenant;  // absent: of all; set by whoever knows the client's rights

  bool operator==(const EventQuery&) const = default;
};

// `after`, `limit` and `follow`, which every stream of events has. Fails with invalid_request.
kernel::Result<EventQuery> parse_stream_query(const HttpRequest& request);
// The same with `kind`, the beginning of an event's kind.
kernel::Result<EventQuery> parse_event_query(const HttpRequest& request);

// One look into the ledger.
struct EventPage {
  std::vector<StoredEvent> events;
  std::uint64_t read_to = 0;              // no event up to here has been left out
  std::optional<std::uint64_t> oldest{};  // set: events after `after` have been pruned up to this
};
// `is_resumed`: there must be no gap after `after`.
kernel::Result<EventPage> read_page(LedgerReader& reader, const EventFilter& filter,
                                    bool is_resumed);

// An event as a client gets it: a line that ends in a newline, or empty to leave it out.
using EventLine = std::function<std::string(const StoredEvent&)>;

class EventStream : public std::enable_shared_from_this<EventStream> {
 public:
  EventStream(uv_loop_t* loop, Ledger& ledger, Exchange exchange, EventQuery query, EventLine line);

  void start();
  void wake();  // the ledger has grown
  void end(const kernel::Error& why);
  bool is_over() const { return !exchange_.is_open(); }

 private:
  void read_next();
  void take(const kernel::Result<EventPage>& page);
  void begin();
  void heartbeat();
  std::size_t wanted() const;

  Ledger& ledger_;
  Exchange exchange_;
  EventQuery query_;
  EventLine line_;
  std::uint64_t position_ = 0;
  std::uint64_t sent_ = 0;
  bool has_begun_ = false;
  bool is_reading_ = false;
  bool is_full_ = false;    // the client's queue is over its mark
  bool has_grown_ = false;  // while it was read
  Timer heartbeat_timer_;
};

// Opens streams, and wakes them when the ledger has grown.
class EventStreams {
 public:
  EventStreams(uv_loop_t* loop, Ledger& ledger);
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  std::weak_ptr<EventStream> open(const Exchange& exchange, EventQuery query, EventLine line);

 private:
  uv_loop_t* loop_;
  Ledger& ledger_;
  std::vector<std::weak_ptr<EventStream>> streams_;  // each holds a connection
};

}  // namespace paddock::supervisor
