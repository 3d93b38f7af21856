#include "supervisor/api/event_stream.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "supervisor/api/api.hpp"
#include "supervisor/api/json.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

// An event's body can have some tens of KiB.
constexpr std::size_t page_events_max = 100;
constexpr std::size_t kind_bytes_max = 64;
constexpr std::chrono::milliseconds heartbeat_interval{15'000};

Result<std::optional<std::uint64_t>> number(const HttpRequest& request, const std::string& name,
                                            std::uint64_t min) {
  const auto at = request.query.find(name);
  if (at == request.query.end()) return std::optional<std::uint64_t>();
  const std::string& text = at->second;
  // SQLite's integers are signed.
  constexpr std::uint64_t max = INT64_MAX;
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < min ||
      value > max)
    return fail(ErrorCode::invalid_request,
                fmt::format("{}: must be a whole number of {} or more", name, min));
  return std::optional<std::uint64_t>(value);
}

bool is_kind_prefix(std::string_view text) {
  return text.size() <= kind_bytes_max &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string_view::npos;
}

}  // namespace

Result<EventQuery> parse_stream_query(const HttpRequest& request) {
  EventQuery query;
  query.after = TRY(number(request, "after", 0));
  query.limit = TRY(number(request, "limit", 1));
  const auto follow = request.query.find("follow");
  if (follow != request.query.end()) {
    query.follow = follow->second == "true" || follow->second == "1";
    if (!query.follow && follow->second != "false" && follow->second != "0")
      return fail(ErrorCode::invalid_request, "follow: must be true or false");
  }
  return query;
}

Result<EventQuery> parse_event_query(const HttpRequest& request) {
  EventQuery query = TRY(parse_stream_query(request));
  const auto kind = request.query.find("kind");
  if (kind != request.query.end()) query.kind_prefix = kind->second;
  if (!is_kind_prefix(query.kind_prefix))
    return fail(ErrorCode::invalid_request,
                "kind: must be the beginning of an event's kind, such as run. or run.finished");
  return query;
}

Result<EventPage> read_page(LedgerReader& reader, const EventFilter& filter, bool is_resumed) {
  EventPage page;
  if (is_resumed) {
    const auto next = TRY(reader.events(
        {.after = filter.after, .tenant = {}, .subject = {}, .kind_prefix = {}, .limit = 1}));
    // Seqs have no gaps: what is missing has been pruned.
    if (!next.empty() && next.front().seq > filter.after + 1) {
      page.oldest = next.front().seq;
      return page;
    }
  }
  // First: what is committed after it is found by the next look.
  const std::uint64_t head = TRY(reader.head()).seq;
  page.events = TRY(reader.events(filter));
  page.read_to = std::max(filter.after, page.events.empty() ? 0 : page.events.back().seq);
  // Fewer than asked for: there are no others up to the head.
  if (page.events.size() < filter.limit) page.read_to = std::max(page.read_to, head);
  return page;
}

EventStream::EventStream(uv_loop_t* loop, Ledger& ledger, Exchange exchange, EventQuery query,
                         EventLine line)
    : ledger_(ledger),
      exchange_(std::move(exchange)),
      query_(std::move(query)),
      line_(std::move(line)),
      position_(query_.after.value_or(0)),
      heartbeat_timer_(loop) {}

void EventStream::start() {
  // The exchange owns the stream, and drops it when it is over.
  exchange_.on_client_gone([stream = shared_from_this()] { stream->heartbeat_timer_.stop(); });
  read_next();
}

void EventStream::wake() {
  has_grown_ = true;
  if (has_begun_ && !is_full_) read_next();
}

void EventStream::end(const kernel::Error& why) {
  if (is_over()) return;
  if (!has_begun_) return respond_error(exchange_, why);
  exchange_.write(error_to_json(why));
  exchange_.end();
}

std::size_t EventStream::wanted() const {
  if (!query_.limit) return page_events_max;
  return static_cast<std::size_t>(std::min<std::uint64_t>(page_events_max, *query_.limit - sent_));
}

void EventStream::read_next() {
  if (is_reading_ || is_over()) return;
  is_reading_ = true;
  has_grown_ = false;
  const EventFilter filter{.after = position_,
                           .tenant = query_.tenant,
                           .subject = {},
                           .kind_prefix = query_.kind_prefix,
                           .limit = wanted()};
  const bool is_resumed = query_.after.has_value() || position_ > 0;
  ledger_.read<EventPage>(
      [filter, is_resumed](LedgerReader& reader) { return read_page(reader, filter, is_resumed); },
      [weak = weak_from_this()](const Result<EventPage>& page) {
        if (const auto stream = weak.lock()) stream->take(page);
      });
}

void EventStream::begin() {
  has_begun_ = true;
  exchange_.begin_stream({.status = 200, .content_type = "application/x-ndjson", .headers = {}});
  exchange_.on_drained([stream = shared_from_this()] {
    stream->is_full_ = false;
    stream->read_next();
  });
  if (query_.follow) heartbeat();
}

void EventStream::take(const Result<EventPage>& page) {
  is_reading_ = false;
  if (is_over()) return;
  if (!page && !has_begun_) return respond_error(exchange_, page.error());
  // What has begun cannot become an error any more: a stream that is cut off is seen not to be all.
  if (!page) return exchange_.abort();
  if (page->oldest && !has_begun_)
    return respond_json(exchange_, 410, pruned_to_json(position_, *page->oldest));
  if (page->oldest) {  // it was pruned faster than the client read
    exchange_.write(pruned_to_json(position_, *page->oldest));
    return exchange_.end();
  }
  if (!has_begun_) begin();
  position_ = page->read_to;
  sent_ += page->events.size();
  std::string lines;
  for (const StoredEvent& event : page->events) lines += line_(event);
  if (!lines.empty()) is_full_ = exchange_.write(lines) == WriteResult::full;
  const bool is_all = page->events.size() < page_events_max;
  if ((query_.limit && sent_ >= *query_.limit) || (is_all && !query_.follow && !has_grown_))
    return exchange_.end();
  if (!is_full_ && (!is_all || has_grown_)) read_next();
}

// An empty line now and then tells that both are still there.
void EventStream::heartbeat() {
  heartbeat_timer_.start(heartbeat_interval, [this] {
    if (is_over()) return;
    if (!is_full_) is_full_ = exchange_.write("\n") == WriteResult::full;
    heartbeat();
  });
}

EventStreams::EventStreams(uv_loop_t* loop, Ledger& ledger) : loop_(loop), ledger_(ledger) {
  ledger_.on_growth([this](std::uint64_t) {
    std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
    for (const auto& weak : streams_)
      if (const auto stream = weak.lock()) stream->wake();
  });
}

std::weak_ptr<EventStream> EventStreams::open(const Exchange& exchange, EventQuery query,
                                              EventLine line) {
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  const auto stream =
      std::make_shared<EventStream>(loop_, ledger_, exchange, std::move(query), std::move(line));
  streams_.push_back(stream);
  stream->start();
  return stream;
}

}  // namespace paddock::supervisor
