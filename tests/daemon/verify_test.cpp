// POST /v1/verify, with the real daemon, real sandboxes and its ledger.

#include <poll.h>

#include <csignal>

#include "support/daemon_fixture.hpp"

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

const std::string right_code = "def f(x):\n    return x + 1\n";
const std::string wrong_code = "def f(x):\n    return x\n";
const std::string sleeping_code = "import time\ndef f(x):\n    time.sleep(600)\n";

json call_item(const std::string& id, const std::string& code) {
  return {{"id", id},
          {"code", code},
          {"tests",
           {{"kind", "call"},
            {"entry_point", "f"},
            {"cases", {{{"args", {1}}, {"expected", 2}}, {{"args", {2}}, {"expected", 3}}}}}}};
}

json assert_item(const std::string& id, const std::string& code, const std::string& source) {
  return {{"id", id}, {"code", code}, {"tests", {{"kind", "assert"}, {"source", source}}}};
}

json stdio_item(const std::string& id, const std::string& code) {
  return {{"id", id},
          {"code", code},
          {"tests",
           {{"kind", "stdio"},
            {"cases",
             {{{"stdin", "1\n"}, {"stdout", "2\n"}}, {{"stdin", "2\n"}, {"stdout", "3\n"}}}}}}};
}

json with(json object, const std::string& key, const json& value) {
  object[key] = value;
  return object;
}

// Under OFF where isolation is not what is looked at: it starts faster, and everywhere.
json request_of(const std::vector<json>& items, const json& rest = json::object()) {
  json body = {{"items", items}, {"profile", "OFF"}};
  body.update(rest);
  return body;
}

json item_of(const json& answer, const std::string& id) {
  for (const json& item : answer["items"])
    if (item["id"] == id) return item;
  FAIL("no item " << id);
  return {};
}

std::size_t runs_of(const DaemonFixture& daemon) {
  return daemon.get("/v1/runs").json()["runs"].size();
}

std::vector<json> events_of(HttpConnection& connection) {
  std::vector<json> events;
  for (json event = connection.receive_event(); !event.is_null();
       event = connection.receive_event())
    events.push_back(event);
  return events;
}

}  // namespace

TEST_CASE("code is judged under STRICT, each kind of tests with right and wrong code") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const json answer =
      daemon.verify({{"items",
                      {call_item("call right", right_code), call_item("call wrong", wrong_code),
                       assert_item("assert right", right_code, "assert f(1) == 2"),
                       assert_item("assert half", wrong_code, "assert f(1) == 2\nassert f(1) == 1"),
                       stdio_item("stdio right", "print(int(input()) + 1)"),
                       stdio_item("stdio half", "print(2)")}},
                     {"allow_degraded", true}});
  REQUIRE(answer["items"].size() == 6);
  CHECK(answer["groups"] == json::array());
  for (const char* id : {"call right", "assert right", "stdio right"}) {
    const json item = item_of(answer, id);
    INFO(item.dump());
    CHECK(item["verdict"] == "pass");
    CHECK(item["reward"] == 1.0);
    CHECK(item["isolation"]["profile"] == "STRICT");
    CHECK(item["mac"].is_null());
  }
  CHECK(item_of(answer, "call wrong")["reward"] == 0.0);
  CHECK(item_of(answer, "assert half")["reward"] == 0.5);
  CHECK(item_of(answer, "stdio half")["reward"] == 0.5);
  CHECK(item_of(answer, "stdio half")["cause"] == "wrong_answer");
  // Each has its runs on record, and of two the judge belongs to its candidate.
  const json runs = item_of(answer, "call right")["receipt"]["runs"];
  REQUIRE(runs.size() == 2);
  const json candidate = daemon.get("/v1/runs/" + runs[0].get<std::string>()).json();
  CHECK(candidate["confinement"]["policy_hash"] == item_of(answer, "call right")["policy_hash"]);
  CHECK(daemon.get("/v1/runs/" + runs[1].get<std::string>()).status == 200);
}

TEST_CASE("an early end with success is no pass, and a hang is the candidate's wall clock") {
  const DaemonFixture daemon({.config = "[verify]\nwall_seconds = 2\n"});
  const json answer = daemon.verify(request_of(
      {call_item("exit", "import os\ndef f(x):\n    os._exit(0)\n"),
       stdio_item("exit silently", "import os\nos._exit(0)"),
       with(call_item("exit in process", "import os\nos._exit(0)"), "integrity", "in_process"),
       call_item("hang", sleeping_code),
       with(stdio_item("hang sooner", "import time\ntime.sleep(60)"), "limits",
            {{"wall_seconds", 0.5}})}));
  for (const json& item : answer["items"]) {
    INFO(item.dump());
    CHECK(item["verdict"] == "fail");
    CHECK(item["reward"] == 0.0);
  }
  CHECK(item_of(answer, "exit")["cause"] == "exited");
  CHECK(item_of(answer, "exit silently")["cause"] == "wrong_answer");
  CHECK(item_of(answer, "exit in process")["cause"] == "exited");
  CHECK(item_of(answer, "hang")["cause"] == "wall_clock");
  CHECK(item_of(answer, "hang sooner")["cause"] == "wall_clock");
}

TEST_CASE("output beyond the cap is never compared as if it were all") {
  const DaemonFixture daemon;
  json item = stdio_item("a", "print('2')\nprint('x' * 100000)");
  item["tests"]["cases"] = {{{"stdin", ""}, {"stdout", "2\n" + std::string(98, 'x')}}};
  item["limits"] = {{"output_bytes", 100}};
  CHECK(item_of(daemon.verify(request_of({item})), "a")["cause"] == "output_limit");
}

TEST_CASE("a request that cannot be judged at all is refused, and nothing runs") {
  const DaemonFixture daemon;
  const auto refused = [&](const json& body) {
    return http(daemon.socket(), "POST", "/v1/verify", body);
  };
  json empty = call_item("a", right_code);
  empty["tests"]["cases"] = json::array();
  HttpReply reply = refused(request_of({empty}));
  CHECK(reply.status == 400);
  CHECK(reply.error_code() == "invalid_request");
  CHECK(reply.error_message() == "items[0]: tests.cases: must not be empty");
  CHECK(refused(request_of({})).error_message() == "items: must not be empty");
  CHECK(refused(request_of({call_item("a", right_code)}, {{"itmes", 1}})).error_message() ==
        "unknown key 'itmes'; did you mean 'items'?");
  reply = refused(request_of({call_item("a", right_code)}, {{"profile", "STRICTER"}}));
  CHECK(reply.status == 404);
  CHECK(reply.error_code() == "unknown_profile");
  CHECK(refused(request_of({with(stdio_item("a", "x"), "language", "cobol")}))
            .error_message()
            .find("there is no 'cobol'") != std::string::npos);
  HttpConnection connection(daemon.socket());
  connection.send_request("POST", "/v1/verify", "{\"items\":[");
  CHECK(connection.receive_reply().status == 400);
  CHECK(runs_of(daemon) == 0);
}

TEST_CASE("one bad item among good ones is named with its place, and the others are judged") {
  const DaemonFixture daemon;
  json bad = stdio_item("bad", "print(1)");
  bad["tests"]["cases"][1]["stdin"] = 7;
  const json answer =
      daemon.verify(request_of({call_item("a", right_code), bad, call_item("b", wrong_code)}));
  CHECK(answer["items"][0]["verdict"] == "pass");
  CHECK(answer["items"][1]["verdict"] == "invalid");
  CHECK(answer["items"][1]["reward"].is_null());
  CHECK(answer["items"][1]["cause"] == "invalid_request");
  CHECK(answer["items"][1]["detail"] ==
        "tests.cases[1].stdin: must be a string, or {\"b64\": \"...\"}");
  CHECK(answer["items"][2]["verdict"] == "fail");
}

TEST_CASE("ten thousand tiny bad items do not hold up the daemon") {
  const DaemonFixture daemon;
  std::vector<json> items;
  for (int i = 0; i < 9'999; ++i) items.push_back(json({{"id", std::to_string(i)}}));
  items.push_back(call_item("good", right_code));
  const json answer = daemon.verify(request_of(items));
  REQUIRE(answer["items"].size() == 10'000);
  CHECK(answer["items"][9'999]["verdict"] == "pass");
  CHECK(answer["items"][0]["detail"] == "the key 'code' is missing");
}

TEST_CASE("a stream has each verdict as it comes, each group after its last, and an end") {
  const DaemonFixture daemon({.config = "[verify]\nitems_alive = 2\n"});
  const std::vector<json> items = {
      with(call_item("slow", "import time\ntime.sleep(1.5)\n" + right_code), "group", "g"),
      with(call_item("fast", wrong_code), "group", "g"), call_item("alone", right_code)};
  HttpConnection connection(daemon.trainer_socket());
  connection.send_request("POST", "/v1/verify",
                          request_of(items, {{"stream", true}, {"request_id", "s"}}).dump());
  CHECK(connection.receive_head().status == 200);
  const std::vector<json> events = events_of(connection);
  REQUIRE(events.size() == 5);
  CHECK(events[0]["event"] == "verdict");
  CHECK(events[0]["id"] == "fast");
  CHECK(events[0]["reward"] == 0.0);
  CHECK(events[1]["id"] == "alone");
  CHECK(events[2]["id"] == "slow");
  CHECK(events[3] == json({{"event", "group"},
                           {"request_id", "s"},
                           {"group", "g"},
                           {"ids", {"slow", "fast"}},
                           {"rewards", {1.0, 0.0}}}));
  CHECK(events[4] == json({{"event", "end"}, {"items", 3}}));
}

TEST_CASE("a client that leaves ends its runs and those that would have followed") {
  const DaemonFixture daemon({.config = "[verify]\nitems_alive = 1\nknown_answers = false\n"});
  for (const bool is_streamed : {false, true}) {
    INFO(is_streamed);
    HttpConnection connection(daemon.socket());
    connection.send_request(
        "POST", "/v1/verify",
        request_of({call_item("a", sleeping_code), call_item("b", sleeping_code)},
                   {{"stream", is_streamed}})
            .dump());
    REQUIRE(eventually([&] { return daemon.health("runs_alive") == 2; }));
    connection.vanish();
    CHECK(eventually([&] { return daemon.health("runs_alive") == 0; }));
  }
  CHECK(runs_of(daemon) == 4);
  // Their places are free again.
  CHECK(daemon.verify(request_of({call_item("c", right_code)}))["items"][0]["verdict"] == "pass");
}

TEST_CASE("what is not over at the deadline is invalid, and is told then") {
  const DaemonFixture daemon({.config = "[verify]\nitems_alive = 1\n"});
  const auto begin = steady_clock::now();
  const json answer = daemon.verify(request_of(
      {call_item("a", right_code), call_item("b", sleeping_code), call_item("c", right_code)},
      {{"deadline_ms", 3000}}));
  CHECK(steady_clock::now() - begin < seconds(8));
  CHECK(item_of(answer, "a")["verdict"] == "pass");
  for (const char* id : {"b", "c"}) {
    CHECK(item_of(answer, id)["verdict"] == "invalid");
    CHECK(item_of(answer, id)["cause"] == "deadline");
    CHECK(item_of(answer, id)["reward"].is_null());
  }
  CHECK(eventually([&] { return daemon.health("runs_alive") == 0; }));
}

TEST_CASE("sixty-four items at once with four slots do not wait for each other for ever") {
  const DaemonFixture daemon(
      {.config = "[limits]\nruns_alive = 4\nruns_queued = 8\n[verify]\nitems_alive = 64\n"});
  std::vector<json> items;
  for (int i = 0; i < 64; ++i)
    items.push_back(call_item(std::to_string(i), i % 2 == 0 ? right_code : wrong_code));
  HttpConnection connection(daemon.trainer_socket(), seconds(100));
  connection.send_request("POST", "/v1/verify", request_of(items).dump());
  const json answer = connection.receive_reply().json();
  REQUIRE(answer["items"].size() == 64);
  for (int i = 0; i < 64; ++i) {
    const json& item = answer["items"][static_cast<std::size_t>(i)];
    INFO(item.dump());
    CHECK(item["verdict"] == (i % 2 == 0 ? "pass" : "fail"));
  }
}

TEST_CASE("a judge that is killed makes its item invalid") {
  const DaemonFixture daemon;
  HttpConnection connection(daemon.socket());
  connection.send_request(
      "POST", "/v1/verify",
      request_of({call_item("a", "import time\ntime.sleep(3)\n" + right_code)}).dump());
  std::string judge;
  REQUIRE(eventually([&] {
    const json running = daemon.get("/v1/runs?state=running").json();
    for (const json& run : running["runs"])
      if (run["argv"].size() == 6) judge = run["id"];
    return !judge.empty();
  }));
  daemon.wait_until_started(judge);
  const json run = daemon.get("/v1/runs/" + judge).json();
  REQUIRE(::kill(run["confinement"]["pid"].get<pid_t>(), SIGKILL) == 0);
  const json item = connection.receive_reply().json()["items"][0];
  CHECK(item["verdict"] == "invalid");
  CHECK(item["cause"] == "judge_failed");
  CHECK(item["reward"].is_null());
}

TEST_CASE("a request that comes again runs nothing again, also after the daemon was killed") {
  DaemonFixture daemon;
  const json request = request_of({with(call_item("a", right_code), "group", "g"),
                                   with(call_item("b", wrong_code), "group", "g")},
                                  {{"request_id", "step-1"}});
  const json first = daemon.verify(request);
  const std::size_t runs = runs_of(daemon);
  CHECK(daemon.verify(request) == first);
  CHECK(runs_of(daemon) == runs);
  const auto groups = [&] { return daemon.get("/v1/events?kind=verify.group").body; };
  const std::string recorded = groups();
  CHECK(recorded.find("\"g\"") != std::string::npos);
  daemon.signal(SIGKILL);
  daemon.wait_for_end();
  daemon.start_again();
  CHECK(daemon.verify(request) == first);
  CHECK(runs_of(daemon) == runs);
  CHECK(groups() == recorded);
}

TEST_CASE("a nonce is taken once") {
  const DaemonFixture daemon;
  const json item = with(call_item("a", right_code), "nonce", "n-1");
  CHECK(daemon.verify(request_of({item}))["items"][0]["nonce"] == "n-1");
  const HttpReply again = http(daemon.socket(), "POST", "/v1/verify", request_of({item}));
  REQUIRE(again.status == 200);
  CHECK(again.json()["items"][0]["cause"] == "invalid_request");
  CHECK(again.json()["items"][0]["detail"] == "nonce: it was used before");
  CHECK(again.json()["items"][0]["reward"].is_null());
}

TEST_CASE("no room for all items is 429 with a time to come again, and nothing runs") {
  const DaemonFixture daemon({.config = "[verify]\nqueued = 2\n"});
  const HttpReply reply = http(daemon.socket(), "POST", "/v1/verify",
                               request_of({call_item("a", right_code), call_item("b", right_code),
                                           call_item("c", right_code)}));
  CHECK(reply.status == 429);
  CHECK(reply.header("Retry-After") == "1");
  CHECK(reply.error_code() == "too_busy");
  CHECK(runs_of(daemon) == 0);
}

TEST_CASE("a drain answers what is judged, and says of the rest that it was not") {
  const DaemonFixture daemon({.config = "[verify]\nitems_alive = 1\n"});
  HttpConnection connection(daemon.trainer_socket());
  connection.send_request("POST", "/v1/verify",
                          request_of({call_item("a", "import time\ntime.sleep(1.5)\n" + right_code),
                                      call_item("b", right_code)})
                              .dump());
  REQUIRE(eventually([&] { return daemon.health("runs_alive") == 2; }));
  daemon.signal(SIGTERM);
  const json answer = connection.receive_reply().json();
  CHECK(item_of(answer, "a")["verdict"] == "pass");
  CHECK(item_of(answer, "b")["verdict"] == "invalid");
  CHECK(item_of(answer, "b")["cause"] == "shutdown");
}

TEST_CASE("verdicts are counted by what they say, and what waits is shown") {
  const DaemonFixture daemon;
  daemon.verify(request_of({call_item("a", right_code), call_item("b", wrong_code)}));
  const std::string metrics = daemon.get("/metrics").body;
  CHECK(metrics.find("paddock_verdicts_total{cause=\"passed\",verdict=\"pass\"} 1") !=
        std::string::npos);
  CHECK(metrics.find("paddock_verdicts_total{cause=\"wrong_answer\",verdict=\"fail\"} 1") !=
        std::string::npos);
  CHECK(metrics.find("paddock_verify_items_alive 0") != std::string::npos);
}

TEST_CASE("a client that does not read gets no more items started for it") {
  const DaemonFixture daemon({.config = "[verify]\nitems_alive = 2\n"});
  // Each answer has two tails of 4 KiB that take six bytes for each of theirs.
  const std::string noisy =
      "import sys\nfor out in (sys.stdout, sys.stderr):\n    out.write('\\x01' * 4096)\n" +
      right_code;
  std::vector<json> items;
  for (int i = 0; i < 60; ++i) items.push_back(call_item(std::to_string(i), noisy));
  HttpConnection connection(daemon.socket());
  connection.send_request("POST", "/v1/verify", request_of(items, {{"stream", true}}).dump());
  std::size_t runs = 0;
  REQUIRE(eventually(
      [&] {
        const std::size_t now = runs_of(daemon);
        const bool stands_still = now > 4 && now == runs && daemon.health("runs_alive") == 0;
        runs = now;
        ::poll(nullptr, 0, 500);
        return stands_still;
      },
      seconds(60)));
  CHECK(runs < 120);
  CHECK(connection.receive_head().status == 200);
  CHECK(events_of(connection).size() == 61);
}
