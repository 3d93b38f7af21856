// Known answers with real interpreters, without isolation.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "supervisor/verify/separate_item.hpp"
#include "supervisor/verify/verifier_fixture.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::tests;
using std::chrono::milliseconds;

namespace {

const json increments = {{"kind", "call"},
                         {"entry_point", "f"},
                         {"cases",
                          {{{"args", {1}}, {"expected", 2}},
                           {{"args", {2}}, {"expected", 3}},
                           {{"args", {3}}, {"expected", 4}}}}};
const json assertions = {
    {"kind", "assert"},
    {"source",
     "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 3, 'two'\n"
     "    for x in range(3, 6):\n        assert candidate(x) == x + 1\n"},
    {"entry_point", "f"}};

json item_of(const std::string& id, const std::string& code, const json& tests) {
  return {{"id", id}, {"code", code}, {"tests", tests}};
}

// What two answers have to say alike, however they were come by.
json verdict_of(const ItemAnswer& answer) {
  json object = json::parse(answer_to_json(answer));
  for (json& each : object["cases"]) each.erase("wall_ms");
  for (const char* own : {"receipt", "run_ms", "queue_ms", "by_known_answers"}) object.erase(own);
  return object;
}

class KnownFixture : public VerifierFixture {
 public:
  void learn(const json& tests) {
    constexpr int times = 20;
    for (int i = 0; i < times; ++i)
      if (verify({item_of("a", right_code, tests)})->of("a").by_known_answers) return;
    FAIL("its answers are not known");
  }
};

// Each says or does something else than the known answers.
const std::map<std::string, std::string> others = {
    {"wrong", "def f(x): return x\n"},
    {"wrong at last", "def f(x): return x + 1 if x < 3 else 0\n"},
    {"of another type", "def f(x): return float(x + 1)\n"},
    {"a bool", "def f(x): return True\n"},
    {"no value", "def f(x): return f\n"},
    {"raises", "def f(x):\n    if x > 1: raise ValueError('no')\n    return x + 1\n"},
    {"does not load", "def f(x:\n"},
    {"no function", "g = 1\n"},
    {"exits", "import os\ndef f(x):\n    if x > 1: os._exit(3)\n    return x + 1\n"},
    {"exits on load", "import os\nos._exit(0)\n"},
    {"killed", "import os\ndef f(x): os.kill(os.getpid(), 9)\n"},
    {"hangs", "import time\ndef f(x):\n    if x > 1: time.sleep(600)\n    return x + 1\n"},
    {"answers unasked",
     "import os\nos.write(3, b'\\0\\0\\0\\x09[\"ready\"]\\0\\0\\0\\x10[0,\"value\",2,[]]')\n"
     "def f(x): return x + 1\n"},
    {"half an answer", "import os\ndef f(x):\n    os.write(3, b'\\0\\0\\0')\n    os._exit(0)\n"},
    {"half an answer, then a whole one",
     "import os\ndef f(x):\n    os.write(3, b'\\0\\0')\n    return x + 1\n"},
    {"closes the channel", "import os, time\ndef f(x):\n    os.close(3)\n    time.sleep(600)\n"},
    {"stops reading",
     "import os, time\nos.write(3, b'\\0\\0\\0\\x09[\"ready\"]')\ntime.sleep(600)\n"},
};

}  // namespace

TEST_CASE_METHOD(
    KnownFixture,
    "tests that came before are passed without a judge by who gives the known answers") {
  for (const json& tests : {increments, assertions}) {
    learn(tests);
    const auto told = verify({item_of("right", right_code, tests)});
    const ItemAnswer& right = told->of("right");
    INFO(answer_to_json(right));
    CHECK(right.by_known_answers);
    CHECK(right.verdict == Verdict::pass);
    CHECK(right.reward == 1.0);
    CHECK(right.runs.size() == 1);
    REQUIRE(right.cases.size() == right.total);
    for (const CaseAnswer& each : right.cases) CHECK(each.wall_ms.value_or(0) > 0);
    CHECK(right.integrity == Integrity::separate);
  }
}

TEST_CASE("whoever answers otherwise is told the same as without known answers") {
  for (const json& tests : {increments, assertions}) {
    KnownFixture known;
    KnownFixture judged;
    judged.remake_verifier({.known_answers = false});
    known.learn(tests);
    for (KnownFixture* each : {&known, &judged}) each->item_wall_clock = milliseconds(2000);
    for (const auto& [name, code] : others) {
      INFO(name);
      const auto with = known.verify({item_of(name, code, tests)})->of(name);
      const auto without = judged.verify({item_of(name, code, tests)})->of(name);
      CHECK_FALSE(with.by_known_answers);
      CHECK(verdict_of(with) == verdict_of(without));
    }
  }
}

TEST_CASE_METHOD(KnownFixture, "of arguments and answers of any size the whole is compared") {
  json cases = json::array();
  for (int i = 0; i < 3; ++i)
    cases.push_back({{"args", {std::string(20'000, 'a'), i}},
                     {"expected", std::string(40'000, 'a') + std::to_string(i)}});
  const json tests = {{"kind", "call"}, {"entry_point", "f"}, {"cases", cases}};
  const std::string right = "def f(s, i): return s + s + str(i)\n";
  std::shared_ptr<Told> told;
  for (int i = 0; i < 4; ++i) told = verify({item_of("a", right, tests)});
  CHECK(told->of("a").by_known_answers);
  told = verify({item_of("a", "def f(s, i): return s + s + '0'\n", tests)});
  CHECK(told->of("a").passed == 1);
  CHECK(told->of("a").cases[1].cause == "wrong_answer");
  told = verify(
      {item_of("a", "def f(s, i): return [*(s + s + str(i))] if i else s + s + '0'\n", tests)});
  CHECK(told->of("a").passed == 1);
}

TEST_CASE_METHOD(KnownFixture,
                 "a candidate that reads no more than a token still gets its number") {
  constexpr int questions = 8;
  json cases = json::array();
  for (int i = 0; i < questions; ++i)
    cases.push_back({{"args", {std::string(30'000, 'a')}}, {"expected", 1}});
  const json tests = {{"kind", "call"}, {"entry_point", "f"}, {"cases", cases}};
  for (int i = 0; i < 4; ++i) verify({item_of("a", "def f(s): return 1\n", tests)});
  // It answers each question by its beginning, and leaves the rest where it is.
  const std::string sly =
      "import os, socket\n"
      "s = socket.socket(fileno=3)\n"
      "def say(b): s.sendall(len(b).to_bytes(4, 'big') + b)\n"
      "say(b'[\"ready\"]')\n"
      "seen = 0\n"
      "while True:\n"
      "    b = s.recv(1 << 20, socket.MSG_PEEK)\n"
      "    n = b.rfind(b'\\0\\0u')\n"
      "    if len(b) <= seen: continue\n"
      "    frame = b[seen:]\n"
      "    seen = len(b)\n"
      "    say(b'[' + frame[5:].split(b',')[0] + b',\"value\",1,[]]')\n";
  item_wall_clock = milliseconds(3000);
  const auto told = verify({item_of("a", sly, tests)});
  INFO(answer_to_json(told->of("a")));
  CHECK(told->of("a").verdict == Verdict::fail);
  CHECK(told->of("a").reward.has_value());
}

TEST_CASE_METHOD(KnownFixture, "known answers are found once, by a run beside, and by tenant") {
  learn(increments);
  const auto runs = table->list();
  CHECK(std::count_if(runs.begin(), runs.end(),
                      [](const RunRecord* run) { return run->parent.empty(); }) >= 3);
  const std::size_t before = count("run.starting");
  CHECK(verify({item_of("a", right_code, increments)})->of("a").by_known_answers);
  CHECK(count("run.starting") == before + 1);
  auto told = submit({item_of("a", right_code, increments)}, json::object(), "other");
  run_until([&] { return told->ended; });
  CHECK_FALSE(told->of("a").by_known_answers);
}

TEST_CASE_METHOD(KnownFixture, "tests without known answers are judged each time, and asked once") {
  const json tests = {{"kind", "assert"}, {"source", "assert abs(f(1) - 2) < 0.1"}};
  for (int i = 0; i < 3; ++i) verify({item_of("a", right_code, tests)});
  const std::size_t before = count("run.starting");
  const auto told = verify({item_of("a", right_code, tests)});
  CHECK_FALSE(told->of("a").by_known_answers);
  CHECK(told->of("a").verdict == Verdict::pass);
  CHECK(count("run.starting") == before + 2);
}

TEST_CASE_METHOD(KnownFixture, "an item that is cancelled while it is asked ends its run") {
  learn(increments);
  const auto told = submit({item_of("a", "import time\ntime.sleep(600)\n", increments)});
  run_until([&] { return table->alive() == 1; });
  verifier->cancel(last_batch);
  run_until([&] { return table->alive() == 0; });
  CHECK(told->answers.empty());
}

TEST_CASE_METHOD(KnownFixture,
                 "a candidate that has ended is waited for no longer, whoever holds its channel") {
  learn(increments);
  const std::string name = "paddock-test-" + std::to_string(::getpid());
  const kernel::Fd holder(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  REQUIRE(::bind(holder.get(), reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0);
  const std::string code =
      "import os, socket\n"
      "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
      "socket.send_fds(s, [b'x'], [3], 0, '\\0" +
      name + "')\nos._exit(0)\n";
  const auto told = submit({item_of("a", code, increments)});
  run_for(judge_grace + milliseconds(5000));
  REQUIRE(told->ended);
  CHECK(told->of("a").verdict != Verdict::pass);
  CHECK(table->alive() == 0);
}

TEST_CASE_METHOD(KnownFixture, "a candidate that has no process has no judge either") {
  learn(increments);
  recorder.refuse_if = [](const Transition& transition) {
    return transition.event.kind == "run.starting";
  };
  const auto told = verify({item_of("a", right_code, increments)});
  INFO(answer_to_json(told->of("a")));
  CHECK(told->of("a").verdict == Verdict::invalid);
  CHECK(told->of("a").cause == "not_recorded");
}
