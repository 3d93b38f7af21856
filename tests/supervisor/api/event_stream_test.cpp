// A page of events, and what a client may ask for. Streams as such: tests/daemon/events_test.cpp.

#include "supervisor/api/event_stream.hpp"

#include <nlohmann/json.hpp>

#include "../ledger/ledger_fixture.hpp"
#include "supervisor/api/json.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;
using namespace std::chrono_literals;
using nlohmann::json;
using paddock::kernel::ErrorCode;

namespace {

EventFilter after(std::uint64_t seq, std::size_t limit = 100) {
  return {.after = seq, .tenant = {}, .subject = {}, .kind_prefix = {}, .limit = limit};
}

HttpRequest with_query(std::map<std::string, std::string> query) {
  HttpRequest request;
  request.query = std::move(query);
  return request;
}

}  // namespace

TEST_CASE_METHOD(LedgerDirectory, "a page ends where the next one begins") {
  LedgerWriter writer = open();
  for (int i = 1; i <= 5; ++i) REQUIRE(writer.apply(std::array{sample_transition(i, "starting")}));
  LedgerReader reads = reader();
  const EventPage first = read_page(reads, after(0, 2), false).value();
  CHECK(first.events.size() == 2);
  CHECK(first.read_to == 2);
  const EventPage second = read_page(reads, after(first.read_to), true).value();
  REQUIRE(second.events.size() == 3);
  CHECK(second.events.front().seq == 3);
  CHECK(second.read_to == 5);
}

// Goal: who asks for a kind that hardly ever happens does not make the ledger be searched anew from
// the beginning at each growth.
TEST_CASE_METHOD(LedgerDirectory, "events of other kinds count as read") {
  LedgerWriter writer = open();
  for (int i = 1; i <= 5; ++i) REQUIRE(writer.apply(std::array{sample_transition(i, "starting")}));
  LedgerReader reads = reader();
  EventFilter filter = after(0);
  filter.kind_prefix = "run.finished";
  const EventPage page = read_page(reads, filter, false).value();
  CHECK(page.events.empty());
  CHECK(page.read_to == 5);
}

TEST_CASE_METHOD(LedgerDirectory, "events that have been pruned are missed, not skipped") {
  LedgerWriter writer = open();
  for (int i = 1; i <= 4; ++i)
    REQUIRE(writer.apply(std::array{sample_transition(i, "finished", i <= 3 ? 1000 : 10'000)}));
  REQUIRE(writer.prune({.keep = 1h, .keep_bytes = 1ull << 40},
                       std::chrono::system_clock::time_point(10'001s)) == 3u);
  LedgerReader reads = reader();
  CHECK(read_page(reads, after(1), true).value().oldest == 4u);
  CHECK(read_page(reads, after(1), true).value().events.empty());
  CHECK_FALSE(read_page(reads, after(3), true).value().oldest);
  CHECK(read_page(reads, after(3), true).value().events.front().seq == 4);
  // Who has no place to go on from begins with the oldest.
  CHECK(read_page(reads, after(0), false).value().events.front().seq == 4);
}

TEST_CASE("a client's wish for events is read, or refused by name") {
  const EventQuery query =
      parse_event_query(
          with_query({{"after", "7"}, {"follow", "true"}, {"kind", "run."}, {"limit", "5"}}))
          .value();
  CHECK(query ==
        EventQuery{.after = 7, .follow = true, .kind_prefix = "run.", .limit = 5, .tenant = {}});
  CHECK(parse_event_query({}).value() == EventQuery{});
  CHECK(parse_event_query(with_query({{"follow", "1"}})).value().follow);
  CHECK_FALSE(parse_event_query(with_query({{"follow", "0"}})).value().follow);
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"after", "-1"}, {"limit", "0"}, {"follow", "yes"}, {"kind", "run%"}}) {
    INFO(name);
    const auto refused = parse_event_query(with_query({{name, value}}));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_request);
    CHECK(refused.error().message.starts_with(name + ": must be "));
  }
}

TEST_CASE("an event is one line of JSON with its body as an object") {
  StoredEvent event;
  event.seq = 7;
  event.event = {.kind = "run.finished",
                 .subject = "r-1",
                 .tenant = "a",
                 .body = R"({"n":1})",
                 .at = std::chrono::system_clock::time_point(1'767'225'600s)};
  CHECK(event_to_json(event) ==
        "{\"seq\":7,\"at\":\"2026-01-01T00:00:00.000Z\",\"kind\":\"run.finished\",\"subject\":"
        "\"r-1\",\"tenant\":\"a\",\"body\":{\"n\":1}}\n");
  event.event.body = "{broken\n";
  const std::string line = event_to_json(event);
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(json::parse(line)["body"] == "{broken\n");
}

TEST_CASE("a request for a key names its tenant, and asks for a rotation or not") {
  CHECK(parse_key_request(R"({"tenant": "blue"})").value() ==
        KeyRequest{.tenant = "blue", .rotate = false});
  CHECK(parse_key_request(R"({"tenant": "", "rotate": true})").value() ==
        KeyRequest{.tenant = "", .rotate = true});
  for (const char* body : {"", "{}", "[]", R"({"rotate": true})", R"({"tenant": null})",
                           R"({"tenant": "blue", "rotate": 1})"}) {
    INFO(body);
    CHECK(parse_key_request(body).error().code == ErrorCode::invalid_request);
  }
  CHECK(parse_key_request(R"({"tenant": "blue", "rotat": true})").error().message ==
        "unknown key 'rotat'; did you mean 'rotate'?");
}

TEST_CASE("a key is told with its id, and an id without the key") {
  MacKey key{.id = "0123456789abcdef", .bytes = {}};
  key.bytes[31] = 0x7f;
  CHECK(made_key_to_json("blue", key) == R"({"tenant":"blue","key_id":"0123456789abcdef","key":")" +
                                             std::string(62, '0') + "7f\"}\n");
  CHECK(key_id_to_json("blue", key) == "{\"tenant\":\"blue\",\"key_id\":\"0123456789abcdef\"}\n");
  CHECK(key_id_to_json("", std::nullopt) == "{\"tenant\":\"\",\"key_id\":null}\n");
}

TEST_CASE("the deadline of a drain may be none at all, and must be a time") {
  CHECK(parse_drain_request("").value() == std::nullopt);
  CHECK(parse_drain_request("{}").value() == std::nullopt);
  CHECK(parse_drain_request(R"({"deadline_seconds": 0})").value() == 0ms);
  CHECK(parse_drain_request(R"({"deadline_seconds": 1.5})").value() == 1500ms);
  CHECK(parse_drain_request(R"({"deadline_seconds": "2m"})").value() == 2min);
  for (const char* body : {R"({"deadline_seconds": -1})", R"({"deadline_secs": 1})", "[]", "x"}) {
    INFO(body);
    CHECK(parse_drain_request(body).error().code == ErrorCode::invalid_request);
  }
  CHECK(parse_drain_request(R"({"deadline_secs": 1})").error().message ==
        "unknown key 'deadline_secs'; did you mean 'deadline_seconds'?");
}
