// GET /v1/feed: the ledger's verdicts and groups as a trainer reads them. The verdicts are written
// to the ledger while no daemon has it.

#include <csignal>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "supervisor/ledger/ledger_writer.hpp"
#include "supervisor/verify/mac.hpp"
#include "supervisor/verify/verdict_transition.hpp"
#include "support/daemon_fixture.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

Transition verdict(const std::string& id, std::optional<double> reward,
                   const std::string& more = "") {
  ItemAnswer answer;
  answer.id = id;
  answer.group = "g";
  answer.verdict = !reward ? Verdict::invalid : *reward == 1 ? Verdict::pass : Verdict::fail;
  answer.reward = reward;
  answer.cause = "passed" + more;
  return verdict_transition(answer, "{}", "step", "", std::chrono::system_clock::now());
}

Transition whole_group() {
  return group_transition(
      {.request_id = "step", .group = "g", .ids = {"a", "b"}, .rewards = {1.0, 0.0}}, "",
      std::chrono::system_clock::now());
}

std::vector<Transition> verdicts(int count, const std::string& more = "") {
  std::vector<Transition> made;
  for (int i = 0; i < count; ++i) made.push_back(verdict("v-" + std::to_string(i), 1.0, more));
  return made;
}

// A daemon whose ledger gets `transitions` in between two lives.
class Fed {
 public:
  explicit Fed(const std::vector<Transition>& transitions) {
    kill();
    write(transitions);
    daemon.start_again();
  }
  void kill() {
    daemon.signal(SIGKILL);
    daemon.wait_for_end();
  }
  void write(const std::vector<Transition>& transitions,
             const LedgerLimits* prune = nullptr) const {
    auto writer =
        LedgerWriter::open(daemon.directory().path("state/ledger.db"), LedgerSync::normal);
    INFO((writer ? "" : writer.error().message));
    REQUIRE(writer);
    REQUIRE(writer->apply(transitions));
    while (prune != nullptr &&
           writer->prune(*prune, std::chrono::system_clock::now() + 1h).value() > 0) {
    }
  }
  std::vector<json> feed(const std::string& query = "") const {
    const HttpReply reply = daemon.get("/v1/feed" + query);
    INFO(reply.body.substr(0, 1000));
    REQUIRE(reply.status == 200);
    return lines(reply.body);
  }
  static std::vector<json> lines(const std::string& body) {
    std::vector<json> all;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = body.find('\n', begin)) != std::string::npos; begin = end + 1)
      if (end > begin) all.push_back(json::parse(body.substr(begin, end - begin)));
    return all;
  }

  DaemonFixture daemon;
};

json item(const std::string& id, const std::string& code = "def f(x): return x + 1") {
  return {{"id", id},
          {"group", "g"},
          {"code", code},
          {"nonce", "nonce of " + id},
          {"tests",
           {{"kind", "call"},
            {"entry_point", "f"},
            {"cases", json::array({{{"args", {1}}, {"expected", 2}}})}}}};
}

MacKey key_in(const json& made) {
  MacKey key{.id = made.at("key_id"), .bytes = {}};
  const std::string hex = made.at("key");
  for (std::size_t i = 0; i < key.bytes.size(); ++i)
    key.bytes[i] = static_cast<unsigned char>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return key;
}

std::vector<std::string> ids(const std::vector<json>& lines) {
  std::vector<std::string> ids;
  for (const json& line : lines) ids.push_back(line.at("id"));
  return ids;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("the feed has verdicts and groups and nothing else, oldest first, on both sockets") {
  Fed fed({verdict("a", 1.0), verdict("b", 0.0), whole_group()});
  fed.daemon.run(shell("true"));
  const std::vector<json> all = fed.feed();
  REQUIRE(all.size() == 3);
  CHECK(all[0]["kind"] == "verdict");
  CHECK(all[0]["id"] == "a");
  CHECK(all[0]["verdict"] == "pass");
  CHECK(all[0]["reward"] == 1.0);
  CHECK(all[1]["seq"].get<int>() == all[0]["seq"].get<int>() + 1);
  CHECK(all[2]["kind"] == "group");
  CHECK(all[2]["ids"] == json({"a", "b"}));
  CHECK(all[2]["advantages"].size() == 2);
  const HttpReply trainers = http(fed.daemon.trainer_socket(), "GET", "/v1/feed");
  CHECK(trainers.status == 200);
  CHECK(Fed::lines(trainers.body) == all);
}

TEST_CASE("a reader picks the kind, the advantages, how many, and after what") {
  const Fed fed({verdict("a", 1.0), verdict("b", std::nullopt), whole_group(), verdict("c", 0.5)});
  CHECK(ids(fed.feed("?kind=verdict")) == Ids{"a", "b", "c"});
  const auto groups = fed.feed("?kind=group&advantages=no_std");
  REQUIRE(groups.size() == 1);
  CHECK(groups[0]["advantages"] == json({0.5, -0.5}));
  CHECK(fed.feed("?kind=group&advantages=rloo")[0]["advantages"] == json({1.0, -1.0}));
  CHECK(ids(fed.feed("?limit=2")) == Ids{"a", "b"});
  const std::string seq = fed.feed("?limit=1")[0]["seq"].dump();
  CHECK(ids(fed.feed("?kind=verdict&after=" + seq)) == Ids{"b", "c"});
  CHECK(fed.feed("?after=1000000").empty());
}

TEST_CASE("bad parameters of the feed are named") {
  const DaemonFixture daemon;
  for (const auto& [query, named] : std::map<std::string, std::string>{
           {"after=-1", "after: must be"},
           {"limit=0", "limit: must be"},
           {"follow=yes", "follow: must be"},
           {"kind=run.", "kind: must be verdict or group"},
           {"kind=", "kind: must be"},
           {"advantages=GRPO", "advantages: must be grpo, no_std or rloo"},
           {"advantage=grpo", "did you mean 'advantages'?"}}) {
    for (const std::string& socket : {daemon.socket(), daemon.trainer_socket()}) {
      INFO(query);
      const HttpReply refused = http(socket, "GET", "/v1/feed?" + query);
      CHECK(refused.status == 400);
      CHECK_THAT(refused.error_message(), Catch::Contains(named));
    }
  }
}

// Goal: whatever becomes of the daemon, a reader that goes on after the last whole line that it had
// gets each verdict once.
TEST_CASE("a reader gets each verdict once, over any number of daemons that are killed") {
  constexpr int count = 3000;
  Fed fed(verdicts(count, std::string(500, 'x')));
  std::mt19937 source(1);
  std::vector<std::string> seen;
  std::string after = "0";
  for (int life = 0; life < 5 && seen.size() < count; ++life) {
    // The last life is as long as it takes.
    std::size_t left =
        life == 4 ? count : std::uniform_int_distribution<std::size_t>(1, 900)(source);
    HttpConnection reader(fed.daemon.socket());
    reader.send_request("GET", "/v1/feed?after=" + after + (life % 2 == 0 ? "" : "&follow=1"));
    REQUIRE(reader.receive_head().status == 200);
    while (seen.size() < count && left > 0) {
      const json line = reader.receive_event();
      REQUIRE(line.is_object());
      after = line.at("seq").dump();
      seen.push_back(line.at("id"));
      --left;
    }
    if (life == 4) break;
    fed.kill();  // while more is on its way
    fed.daemon.start_again();
  }
  REQUIRE(seen.size() == count);
  for (int i = 0; i < count; ++i)
    CHECK(seen[static_cast<std::size_t>(i)] == "v-" + std::to_string(i));
}

TEST_CASE("a daemon that is stopped ends the feed of who follows, and the next one goes on") {
  Fed fed(verdicts(3));
  HttpConnection reader(fed.daemon.socket());
  reader.send_request("GET", "/v1/feed?follow=true");
  REQUIRE(reader.receive_head().status == 200);
  std::string after;
  for (int i = 0; i < 3; ++i) after = reader.receive_event().at("seq").dump();
  fed.daemon.signal(SIGTERM);
  CHECK(fed.daemon.wait_for_end().exit_status == 0);
  fed.write({verdict("later", 1.0)});
  fed.daemon.start_again();
  CHECK(ids(fed.feed("?after=" + after)) == Ids{"later"});
}

// Goal: who does not read costs the daemon one page, and misses nothing when it reads again.
TEST_CASE("a reader that does not read holds up nobody, and misses nothing") {
  constexpr int count = 4000;
  constexpr int read_again = 100;
  const Fed fed(verdicts(count, std::string(16'000, 'x')));
  HttpConnection slow(fed.daemon.socket(), 120s);
  slow.send_request("GET", "/v1/feed");
  REQUIRE(slow.receive_head().status == 200);
  const auto resident = [&] {
    const std::string status =
        paddock::kernel::read_file("/proc/" + std::to_string(fed.daemon.pid()) + "/status", 1 << 16)
            .value();
    return std::stol(status.substr(status.find("VmRSS:") + 6));
  };
  const long before_kib = resident();
  for (int i = 0; i < 20; ++i) {
    CHECK(fed.daemon.get("/healthz").status == 200);
    std::this_thread::sleep_for(20ms);
  }
  CHECK(resident() - before_kib < 40 * 1024);  // all of it would be 64 MiB
  for (int i = 0; i < read_again; ++i)
    REQUIRE(slow.receive_event().at("id") == "v-" + std::to_string(i));
}

TEST_CASE("what has been pruned is missed and not skipped, and the oldest is told") {
  Fed fed(verdicts(10));
  const std::uint64_t first = fed.feed()[0]["seq"];
  fed.kill();
  const LedgerLimits nothing{.keep = std::chrono::hours(0), .keep_bytes = 1ull << 40};
  fed.write({verdict("pruned, too", 1.0)}, &nothing);
  fed.write({verdict("kept", 1.0)});
  fed.daemon.start_again();
  const HttpReply gone = fed.daemon.get("/v1/feed?after=" + std::to_string(first));
  CHECK(gone.status == 410);
  CHECK(gone.error_code() == "pruned");
  const std::uint64_t oldest = gone.json()["error"]["oldest"];
  CHECK(ids(fed.feed("?after=" + std::to_string(oldest - 1))) == Ids{"kept"});
  CHECK(ids(fed.feed()) == Ids{"kept"});
}

// Goal: an event that somebody has edited costs that line, and not the stream.
TEST_CASE("an edited event is told of in its place, and the feed goes on") {
  std::vector<Transition> written = verdicts(3);
  written[1].event.body = "{broken";
  const Fed fed(written);
  const auto all = fed.feed();
  REQUIRE(all.size() == 3);
  CHECK(all[1]["kind"] == "damaged");
  CHECK(all[2]["id"] == "v-2");
}

TEST_CASE("who follows hears of each verdict as its client does, with the same code") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const MacKey key = key_in(daemon.post("/v1/keys", {{"tenant", ""}}).json());
  HttpConnection follower(daemon.trainer_socket(), 120s);
  follower.send_request("GET", "/v1/feed?follow=1&advantages=no_std");
  REQUIRE(follower.receive_head().status == 200);
  const HttpReply reply = http(
      daemon.trainer_socket(), "POST", "/v1/verify",
      {{"request_id", "step-1"}, {"items", {item("good"), item("bad", "def f(x): return x")}}});
  INFO(reply.body);
  REQUIRE(reply.status == 200);
  std::map<std::string, json> answers;
  const json body = reply.json();
  for (const json& answer : body["items"]) answers[answer.at("id")] = answer;
  for (int i = 0; i < 2; ++i) {
    const json line = follower.receive_event();
    const json& answer = answers.at(line.at("id"));
    for (const char* same : {"group", "verdict", "reward", "passed", "total", "cause", "integrity",
                             "code_hash", "tests_hash", "policy_hash", "nonce", "mac", "key_id"}) {
      INFO(same);
      CHECK(line.at(same) == answer.at(same));
    }
    CHECK(line["runs"] == answer["receipt"]["runs"]);
    CHECK(line["request_id"] == "step-1");
    CHECK(line["mac"] == mac_of(answer_from_json(answer.dump()).value(), key));
    CHECK(line["key_id"] == key.id);
  }
  CHECK(answers.at("good")["reward"] == 1.0);
  CHECK(answers.at("bad")["reward"] == 0.0);
  const json last = follower.receive_event();
  CHECK(last["kind"] == "group");
  CHECK(last["ids"] == json({"good", "bad"}));
  CHECK(last["advantages"] == json({0.5, -0.5}));
}

// Goal: a daemon that is killed between two verdicts costs neither a verdict nor a second one.
TEST_CASE("each item is in the feed once, though the daemon is killed while it judges") {
  if (!sandbox_works()) return;
  constexpr std::size_t count = 10;
  DaemonFixture daemon;
  json items = json::array();
  for (std::size_t i = 0; i < count; ++i) items.push_back(item("i-" + std::to_string(i)));
  const json request = {{"request_id", "step-1"}, {"items", items}};
  HttpConnection client(daemon.socket(), 120s);
  client.send_request("POST", "/v1/verify", request.dump());
  HttpConnection follower(daemon.trainer_socket(), 120s);
  follower.send_request("GET", "/v1/feed?follow=1&kind=verdict");
  REQUIRE(follower.receive_head().status == 200);
  std::vector<std::string> seen;
  std::string after;
  for (int i = 0; i < 3; ++i) {
    const json line = follower.receive_event();
    seen.push_back(line.at("id"));
    after = line.at("seq").dump();
  }
  daemon.signal(SIGKILL);
  daemon.wait_for_end();
  daemon.start_again();
  HttpConnection again(daemon.socket(), 120s);
  again.send_request("POST", "/v1/verify", request.dump());
  const HttpReply reply = again.receive_reply();
  INFO(reply.body);
  REQUIRE(reply.status == 200);
  const json body = reply.json();
  for (const json& answer : body["items"]) CHECK(answer["verdict"] == "pass");
  const auto rest = Fed::lines(daemon.get("/v1/feed?kind=verdict&after=" + after).body);
  for (const json& line : rest) seen.push_back(line.at("id"));
  CHECK(seen.size() == count);
  CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == count);
  const auto groups = Fed::lines(daemon.get("/v1/feed?kind=group").body);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0]["advantages"] == json(std::vector<double>(count, 0.0)));
}
