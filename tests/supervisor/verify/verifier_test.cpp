// The verifier with real interpreters, without isolation.

#include "supervisor/verify/verifier.hpp"

#include <csignal>

#include "supervisor/verify/separate_item.hpp"
#include "supervisor/verify/verifier_fixture.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::tests;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE_METHOD(VerifierFixture,
                 "a right function passes and a wrong one fails, in sandboxes of their own") {
  const auto told = verify({call_item("right", right_code), call_item("wrong", wrong_code)});
  const ItemAnswer& right = told->of("right");
  INFO(answer_to_json(right));
  CHECK(right.verdict == Verdict::pass);
  CHECK(right.reward == 1.0);
  CHECK(right.cause == "passed");
  CHECK(right.total == 1);
  CHECK(right.runs.size() == 2);
  CHECK(right.profile == "STRICT");
  CHECK(right.policy_hash.size() == 64);
  CHECK(right.mac.empty());
  const ItemAnswer& wrong = told->of("wrong");
  CHECK(wrong.verdict == Verdict::fail);
  CHECK(wrong.reward == 0.0);
  CHECK(wrong.cause == "wrong_answer");
  CHECK(count("verify.verdict") == 2);
  const RunRecord* const judge = table->find(right.runs[1]);
  REQUIRE(judge != nullptr);
  CHECK(judge->parent == right.runs[0]);
}

TEST_CASE_METHOD(VerifierFixture, "an end of the candidate is its cause, and never a pass") {
  item_wall_clock = milliseconds(1500);
  const auto told = verify({
      call_item("exit", "import os\ndef f(x):\n    os._exit(0)\n"),
      call_item("exit on load", "import os\nos._exit(0)\n"),
      call_item("killed", "import os\ndef f(x):\n    os.kill(os.getpid(), 9)\n"),
      call_item("hangs", "import time\ndef f(x):\n    time.sleep(600)\n"),
      call_item("syntax", "def f(x:\n"),
      call_item("nothing there", "def g(x): return x\n"),
      call_item("raises", "def f(x): raise ValueError('no')\n"),
  });
  CHECK(told->of("exit").cause == "exited");
  CHECK(told->of("exit on load").cause == "exited");
  CHECK(told->of("killed").cause == "signaled");
  CHECK(told->of("hangs").cause == "wall_clock");
  CHECK(told->of("syntax").cause == "does_not_load");
  CHECK(told->of("nothing there").cause == "no_entry_point");
  CHECK(told->of("raises").cause == "raised");
  for (const ItemAnswer& answer : told->answers) {
    INFO(answer.id);
    CHECK(answer.verdict == Verdict::fail);
    CHECK(answer.reward == 0.0);
  }
}

TEST_CASE_METHOD(VerifierFixture,
                 "assertions count one by one, and stop at the first if asked for") {
  const json item = {
      {"id", "a"},
      {"code", right_code},
      {"tests",
       {{"kind", "assert"}, {"source", "assert f(1) == 2\nassert f(1) == 3\nassert f(2) == 3\n"}}}};
  CHECK(verify({item})->of("a").reward == Approx(2.0 / 3));
  const auto all = verify({item}, {{"scoring", "all"}})->of("a");
  CHECK(all.reward == 0.0);
  CHECK(all.passed == 2);
  CHECK(verify({item}, {{"stop", "first_fail"}})->of("a").passed == 1);
}

TEST_CASE_METHOD(VerifierFixture, "a program is run once per case, and compiled once before") {
  const auto told =
      verify({stdio_item("right", "print(int(input()) + 1)"), stdio_item("half", "print(2)"),
              stdio_item("status", "print(int(input()) + 1)\nraise SystemExit(3)"),
              stdio_item("compiled", ": ok\nread x\necho $((x + 1))\n", "sh2"),
              stdio_item("refused", "echo 2\n", "sh2")});
  CHECK(told->of("right").reward == 1.0);
  CHECK(told->of("right").runs.size() == 2);
  CHECK(told->of("right").integrity == Integrity::stdio);
  CHECK(told->of("right").stdout_tail == "3\n");
  CHECK(told->of("half").reward == 0.5);
  CHECK(told->of("half").cause == "wrong_answer");
  CHECK(told->of("status").reward == 0.0);
  CHECK(told->of("status").cause == "exited");
  CHECK(told->of("compiled").reward == 1.0);
  CHECK(told->of("compiled").runs.size() == 3);
  CHECK(told->of("refused").cause == "does_not_compile");
  CHECK(told->of("refused").total == 2);
  CHECK(told->of("refused").runs.size() == 1);
}

TEST_CASE_METHOD(VerifierFixture,
                 "a compiler or an interpreter that this host lacks is nobody's failure") {
  const Runtime& python = runtimes.at("python");
  Runtime no_compiler = runtimes.at("sh2");
  no_compiler.compile->command = {"no-such-compiler", "main.in"};
  Runtime no_interpreter = python;
  no_interpreter.run = {"no-such-interpreter", "main.py"};
  Runtime no_version = python;
  no_version.run = {"/bin/sh", "-c", "no-such-interpreter main.py"};
  no_version.version = {"no-such-interpreter", "--version"};
  runtimes.insert({{"no-compiler", no_compiler},
                   {"no-interpreter", no_interpreter},
                   {"no-version", no_version}});
  for (auto& [name, runtime] : runtimes) runtime.name = name;
  const auto told = verify({stdio_item("no-compiler", ": ok", "no-compiler"),
                            stdio_item("no-interpreter", "print(2)", "no-interpreter"),
                            stdio_item("no-version", "print(2)", "no-version")});
  for (const char* id : {"no-compiler", "no-interpreter", "no-version"}) {
    const ItemAnswer& answer = told->of(id);
    INFO(answer_to_json(answer));
    CHECK(answer.verdict == Verdict::invalid);
    CHECK_FALSE(answer.reward);
    CHECK(answer.cause == "cannot_execute");
    CHECK(answer.detail.find("execute 'no-such-") != std::string::npos);
    CHECK(answer.detail.find("No such file") != std::string::npos);
    CHECK(answer.runs.size() == 2);
  }
}

TEST_CASE_METHOD(VerifierFixture,
                 "code that ends as if its interpreter were missing has failed all the same") {
  const char* const forgery =
      "import sys\n"
      "print(\"paddock-step: execute 'python3': No such file or directory\", file=sys.stderr)\n"
      "sys.exit(127)\n";
  runtimes.at("sh2").compile->command = {"/bin/sh", "-c", "exit 127"};
  const auto told = verify({stdio_item("code", forgery), stdio_item("compiler", ": ok", "sh2")});
  CHECK(told->of("code").verdict == Verdict::fail);
  CHECK(told->of("code").cause == "exited");
  CHECK(told->of("code").total == 2);
  CHECK(told->of("code").runs.size() == 3);  // tried once, not for each case
  CHECK(told->of("code").stderr_tail.find("paddock-step") == 0);
  CHECK(told->of("compiler").verdict == Verdict::fail);
  CHECK(told->of("compiler").cause == "does_not_compile");
}

TEST_CASE_METHOD(VerifierFixture, "a compiler that takes too long fails with that cause") {
  runtimes.at("sh2").compile->command = {"/bin/sh", "-c", "sleep 60"};
  runtimes.at("sh2").compile->wall_clock = std::chrono::milliseconds(300);
  const auto told = verify({stdio_item("slow", ": ok", "sh2")});
  CHECK(told->of("slow").verdict == Verdict::fail);
  CHECK(told->of("slow").cause == "wall_clock");
}

TEST_CASE_METHOD(VerifierFixture,
                 "in one process a report is a report, and an end without one is none") {
  json right = call_item("right", right_code);
  json exits = call_item("exits", "import os\nos._exit(0)\n");
  for (json* item : {&right, &exits}) (*item)["integrity"] = "in_process";
  const auto told = verify({right, exits});
  INFO(answer_to_json(told->of("right")));
  CHECK(told->of("right").verdict == Verdict::pass);
  CHECK(told->of("right").integrity == Integrity::in_process);
  CHECK(told->of("right").runs.size() == 1);
  CHECK(told->of("exits").verdict == Verdict::fail);
  CHECK(told->of("exits").cause == "exited");
}

TEST_CASE_METHOD(VerifierFixture,
                 "a refused item costs nobody else anything, and leaves no record") {
  json empty = call_item("empty", right_code, json::array());
  const auto told = verify({empty, call_item("a", right_code)});
  CHECK(told->of("empty").verdict == Verdict::invalid);
  CHECK(told->of("empty").cause == "invalid_request");
  CHECK(told->of("empty").detail == "tests.cases: must not be empty");
  CHECK(told->of("a").verdict == Verdict::pass);
  CHECK(count("verify.verdict") == 1);
}

TEST_CASE_METHOD(VerifierFixture, "a group is told and recorded after the last of its answers") {
  json right = call_item("right", right_code);
  json wrong = call_item("wrong", wrong_code);
  json broken = call_item("broken", right_code, json::array());
  for (json* item : {&right, &wrong, &broken}) (*item)["group"] = "g";
  const auto told = verify({right, broken, wrong}, {{"request_id", "s1"}});
  REQUIRE(told->groups.size() == 1);
  CHECK(told->groups[0] ==
        GroupAnswer{"s1", "g", {"right", "broken", "wrong"}, {1.0, std::nullopt, 0.0}});
  CHECK(recorder.last().event.kind == "verify.group");
}

TEST_CASE("while candidates hold every slot their judges still run") {
  VerifierFixture fixture({.items_alive = 8}, {.alive_max = 2, .queued_max = 2});
  std::vector<json> items;
  for (int i = 0; i < 12; ++i) items.push_back(call_item(std::to_string(i), right_code));
  const auto told = fixture.verify(items);
  REQUIRE(told->answers.size() == 12);
  for (const ItemAnswer& answer : told->answers) {
    INFO(answer_to_json(answer));
    CHECK(answer.verdict == Verdict::pass);
  }
}

TEST_CASE("no more items are alive than may be, and tenants take turns") {
  VerifierFixture fixture({.items_alive = 1});
  std::vector<json> many;
  for (int i = 0; i < 4; ++i) many.push_back(call_item("m" + std::to_string(i), right_code));
  const auto first = fixture.submit(many, json::object(), "many");
  const auto second = fixture.submit({call_item("one", right_code)}, json::object(), "one");
  fixture.run_until([&] {
    CHECK(fixture.verifier->alive() <= 1);
    return second->ended;
  });
  CHECK(first->answers.size() <= 2);
  fixture.run_until([&] { return first->ended; });
}

TEST_CASE_METHOD(VerifierFixture,
                 "what is not over at its deadline is invalid at once, and its runs end") {
  item_wall_clock = seconds(60);  // longer than this waits for an end
  remake_verifier({.items_alive = 1});
  const auto begin = kernel::Clock::now();
  const auto told =
      submit({call_item("alive", "import time\ntime.sleep(600)"), call_item("waiting", right_code)},
             {{"deadline_ms", 600}});
  run_until([&] { return told->ended; });
  CHECK(kernel::Clock::now() - begin < seconds(3));
  for (const char* id : {"alive", "waiting"}) {
    CHECK(told->of(id).verdict == Verdict::invalid);
    CHECK(told->of(id).cause == "deadline");
    CHECK_FALSE(told->of(id).reward);
  }
  CHECK(told->of("alive").runs.size() >= 1);
  CHECK(told->of("waiting").runs.empty());
  run_until([&] { return table->alive() == 0 && verifier->alive() == 0; });
  CHECK(count("verify.verdict") == 2);
}

TEST_CASE_METHOD(VerifierFixture,
                 "a client that leaves ends its runs, hears nothing more and may ask again") {
  item_wall_clock = seconds(60);  // longer than this waits for an end
  remake_verifier({.items_alive = 1});
  const std::vector<json> items = {call_item("a", "import time\ntime.sleep(600)"),
                                   call_item("b", right_code)};
  const auto told = submit(items, {{"request_id", "s1"}});
  run_until([&] { return table->alive() == 2; });
  verifier->cancel(last_batch);
  CHECK(verifier->queued() == 0);
  run_until([&] { return table->alive() == 0 && verifier->alive() == 0; });
  CHECK(told->answers.empty());
  CHECK_FALSE(told->ended);
  CHECK(count("verify.verdict") == 0);
  CHECK(verify({call_item("a", right_code)}, {{"request_id", "s1"}})->of("a").verdict ==
        Verdict::pass);
}

TEST_CASE_METHOD(VerifierFixture,
                 "a request that comes again is answered from the ledger, and nothing runs") {
  json a = call_item("a", right_code);
  a["group"] = "g";
  a["nonce"] = "n1";
  const auto first = verify({a}, {{"request_id", "s1"}});
  const std::size_t runs = table->list().size();
  const auto again = verify({a}, {{"request_id", "s1"}});
  CHECK(again->answers == first->answers);
  CHECK(again->groups == first->groups);
  CHECK(table->list().size() == runs);
  CHECK(count("verify.verdict") == 1);
  CHECK(count("verify.group") == 1);
  // Only what is missing runs.
  const auto more = verify({a, call_item("b", wrong_code)}, {{"request_id", "s1"}});
  CHECK(more->of("a") == first->answers[0]);
  CHECK(more->of("b").verdict == Verdict::fail);
  CHECK(count("verify.verdict") == 2);
  // Other code under the same name is another item.
  json other = a;
  other["code"] = wrong_code;
  CHECK(verify({other}, {{"request_id", "s1"}})->of("a").cause == "invalid_request");
  // So is the same code under another policy: what was found there does not hold here.
  json stricter = a;
  stricter["limits"] = {{"nproc", 4}};
  const auto refused = verify({stricter}, {{"request_id", "s1"}});
  CHECK(refused->of("a").cause == "invalid_request");
  CHECK(refused->of("a").detail.find("another policy") != std::string::npos);
  // Another tenant's request is another one.
  const auto elsewhere = submit({call_item("a", wrong_code)}, {{"request_id", "s1"}}, "other");
  run_until([&] { return elsewhere->ended; });
  CHECK(elsewhere->of("a").verdict == Verdict::fail);
}

TEST_CASE_METHOD(VerifierFixture,
                 "a nonce is used once, also by requests that are under way together") {
  json a = call_item("a", right_code);
  a["nonce"] = "n1";
  json b = call_item("b", right_code);
  b["nonce"] = "n1";
  const auto first = submit({a});
  const auto second = submit({b});
  run_until([&] { return first->ended && second->ended; });
  CHECK(first->of("a").verdict == Verdict::pass);
  CHECK(second->of("b").cause == "invalid_request");
  CHECK(second->of("b").detail == "nonce: it was used before");
  CHECK(verify({b})->of("b").cause == "invalid_request");
  CHECK(count("verify.verdict") == 1);
}

TEST_CASE_METHOD(VerifierFixture, "the same request twice at once is told to come later") {
  const auto told = submit({call_item("a", right_code)}, {{"request_id", "s1"}});
  const auto refused =
      verifier->submit(batch({call_item("a", right_code)}, {{"request_id", "s1"}}), {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == kernel::ErrorCode::too_busy);
  run_until([&] { return told->ended; });
}

TEST_CASE_METHOD(VerifierFixture, "more items than there is room for are refused, all of them") {
  remake_verifier({.items_alive = 1, .queued_max = 3});
  const auto told = submit({call_item("a", right_code), call_item("b", right_code)});
  const auto refused =
      verifier->submit(batch({call_item("c", right_code), call_item("d", right_code)}), {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == kernel::ErrorCode::too_busy);
  CHECK(verifier->queued() == 2);
  run_until([&] { return told->ended; });
  CHECK(verifier->queued() == 0);
  remake_verifier({.queued_bytes_max = 100});
  CHECK_FALSE(verifier->submit(batch({call_item("a", std::string(200, '#'))}), {}));
}

TEST_CASE_METHOD(VerifierFixture, "no answer and no group goes out before the ledger has it") {
  json item = call_item("a", right_code);
  item["group"] = "g";
  std::size_t recorded_answers = 0;
  std::size_t recorded_groups = 0;
  bool ended = false;
  BatchObserver observer;
  observer.on_answer = [&](std::size_t, const ItemAnswer&, const std::string& text) {
    recorded_answers = count("verify.verdict");
    CHECK(recorder.last().verdict->answer == text);
  };
  observer.on_group = [&](const GroupAnswer&) { recorded_groups = count("verify.group"); };
  observer.on_end = [&] { ended = true; };
  REQUIRE(verifier->submit(batch({item}), observer));
  run_until([&] { return ended; });
  CHECK(recorded_answers == 1);
  CHECK(recorded_groups == 1);
}

TEST_CASE_METHOD(
    VerifierFixture,
    "candidate and judge are recorded as starting together, and end with the verdict") {
  using Kinds = std::vector<std::string>;
  recorder.hold();
  const auto told =
      submit({call_item("a", "import time\ntime.sleep(0.5)\n" + std::string(right_code))});
  run_until([&] { return recorder.waiting() > 0; });
  CHECK(recorder.waiting_kinds() == Kinds{"run.starting", "run.starting"});
  run_for(milliseconds(50));
  CHECK(table->alive() == 0);  // no process before its commit
  recorder.release();
  run_until([&] { return count("run.running") == 2; });
  recorder.hold();
  run_until([&] { return recorder.waiting() == 3; });
  CHECK(recorder.waiting_kinds() == Kinds{"run.finished", "run.finished", "verify.verdict"});
  run_for(milliseconds(50));
  CHECK(told->answers.empty());
  recorder.release();
  run_until([&] { return told->ended; });
  CHECK(told->of("a").verdict == Verdict::pass);
  for (const RunId& run : told->of("a").runs) CHECK(table->find(run)->phase == RunPhase::finished);
}

TEST_CASE_METHOD(VerifierFixture, "the judge of a candidate that is not recorded never starts") {
  recorder.refuse_if = [](const Transition& transition) {
    return transition.event.kind == "run.starting" && transition.run->parent.empty();
  };
  const auto begin = kernel::Clock::now();
  const auto told = verify({call_item("a", right_code)});
  CHECK(kernel::Clock::now() - begin < milliseconds(1500));
  CHECK(told->of("a").verdict == Verdict::invalid);
  CHECK(told->of("a").cause == "not_recorded");
  CHECK_FALSE(told->of("a").reward);
  CHECK(count("run.running") == 0);
  REQUIRE(count("run.starting") == 1);
  REQUIRE(count("run.finished") == 1);
  for (const Transition& transition : recorder.committed)
    if (transition.event.kind == "run.finished") {
      CHECK(transition.run->cause == "killed_by_request");
      CHECK(transition.event.body.find("it has no candidate") != std::string::npos);
    }
  recorder.refuse_if = nullptr;
  CHECK(verify({call_item("b", right_code)})->of("b").verdict == Verdict::pass);
}

TEST_CASE_METHOD(VerifierFixture, "a candidate whose judge is not recorded never starts") {
  recorder.refuse_if = [](const Transition& transition) {
    return transition.event.kind == "run.starting" && !transition.run->parent.empty();
  };
  const auto told = verify({call_item("a", right_code)});
  CHECK(told->of("a").verdict == Verdict::invalid);
  CHECK(told->of("a").cause == "not_recorded");
  CHECK(told->of("a").runs.size() == 1);
  CHECK(count("run.running") == 0);
}

TEST_CASE_METHOD(VerifierFixture,
                 "a verdict that the ledger does not take in time is told as such") {
  json item = call_item("a", "import time\ntime.sleep(1)\n" + std::string(right_code));
  item["group"] = "g";
  const auto told = submit({item}, {{"request_id", "s1"}});
  run_until([&] { return table->alive() == 2; });
  run_for(milliseconds(300));  // both are recorded as running
  recorder.hold();
  const auto begin = kernel::Clock::now();
  run_until([&] { return !told->answers.empty(); });
  CHECK(kernel::Clock::now() - begin < seconds(8));  // the patience of one commit
  run_until([&] { return told->ended; });
  CHECK(told->of("a").verdict == Verdict::invalid);
  CHECK(told->of("a").cause == "not_recorded");
  // Until it is known what became of it, nobody else may be told something else.
  CHECK_FALSE(verifier->submit(batch({call_item("a", right_code)}, {{"request_id", "s1"}}), {}));
  recorder.release();
  run_until([&] { return count("verify.verdict") == 1; });
  run_for(milliseconds(20));
  const auto again = verify({item}, {{"request_id", "s1"}});
  CHECK(again->of("a").verdict == Verdict::pass);
  CHECK(count("verify.verdict") == 1);
  // The group's record has the reward that its verdict's record has, whatever was told meanwhile.
  CHECK(told->groups.at(0).rewards.at(0) == std::nullopt);
  CHECK(again->groups.at(0).rewards.at(0) == 1.0);
  CHECK(recorder.last().event.kind == "verify.group");
  CHECK(json::parse(recorder.last().event.body)["rewards"] == json{1.0});
}

TEST_CASE_METHOD(VerifierFixture,
                 "a judge that begins long after its candidate has ended still says how it did") {
  // As on a host that is busy: the judge's gate opens later than all the grace that it has.
  recorder.delay_if = [](const Transition& transition) {
    return transition.event.kind == "run.starting" && !transition.run->parent.empty();
  };
  const auto told = submit(
      {call_item("ends", "import os\nos._exit(0)\n"), call_item("does not load", "def f(x:\n")});
  const auto have_ended = [&] {
    const auto runs = table->list();
    return std::count_if(runs.begin(), runs.end(), [](const RunRecord* run) {
             return run->phase == RunPhase::finished;
           }) == 2;
  };
  run_until([&] { return recorder.delayed() == 2 && have_ended(); });
  run_for(judge_grace + milliseconds(500));
  CHECK(told->answers.empty());
  recorder.release_delayed();
  run_until([&] { return told->ended; });
  for (const ItemAnswer& answer : told->answers) {
    INFO(answer_to_json(answer));
    CHECK(answer.verdict == Verdict::fail);
    CHECK(answer.reward == 0.0);
  }
  CHECK(told->of("ends").cause == "exited");
}

TEST_CASE_METHOD(VerifierFixture, "a candidate whose judge begins too late has no number") {
  recorder.delay_if = [](const Transition& transition) {
    return transition.event.kind == "run.starting" && !transition.run->parent.empty();
  };
  json waits = call_item("waits", right_code);
  waits["limits"] = {{"wall_seconds", 0.5}};
  const auto told = submit({waits});
  run_until([&] {
    const auto runs = table->list();
    return recorder.delayed() == 1 && std::any_of(runs.begin(), runs.end(), [](const auto* run) {
             return run->phase == RunPhase::finished;
           });
  });
  recorder.release_delayed();
  run_until([&] { return told->ended; });
  CHECK(told->of("waits").verdict == Verdict::invalid);
  CHECK(told->of("waits").cause == "host_overloaded");
  // One that hangs by itself has failed.
  json hangs = call_item("hangs", "import time\ntime.sleep(600)");
  hangs["limits"] = {{"wall_seconds", 1}};
  CHECK(verify({hangs})->of("hangs").cause == "wall_clock");
}

TEST_CASE_METHOD(
    VerifierFixture,
    "a candidate that somebody else ends is not taken for one that closed its channel") {
  const auto told = submit({call_item("a", "import os, time\nos.close(3)\ntime.sleep(600)")});
  run_until([&] { return table->alive() == 2; });
  run_until([&] { return table->alive() == 1; });  // its judge has seen the end of the channel
  for (const RunRecord* run : table->list())
    if (run->parent.empty())
      CHECK(table->stop(run->id, kernel::Cause::killed_by_request, "by an operator"));
  run_until([&] { return told->ended; });
  CHECK(told->of("a").verdict == Verdict::invalid);
  CHECK(told->of("a").cause == "killed_by_request");
}

TEST_CASE_METHOD(VerifierFixture, "a judge that is killed gives no number") {
  const auto told =
      submit({call_item("a", "import time\ndef f(x):\n    time.sleep(2)\n    return x + 1\n")});
  run_until([&] { return table->alive() == 2; });
  RunId judge;
  for (const RunRecord* run : table->list())
    if (!run->parent.empty()) judge = run->id;
  REQUIRE(table->find(judge) != nullptr);
  run_until([&] { return table->find(judge)->marks.agent.has_value(); });
  ::kill(static_cast<pid_t>(table->find(judge)->marks.agent->pid), SIGKILL);
  run_until([&] { return told->ended; });
  CHECK(told->of("a").verdict == Verdict::invalid);
  CHECK(told->of("a").cause == "judge_failed");
  CHECK_FALSE(told->of("a").reward);
}

TEST_CASE_METHOD(VerifierFixture,
                 "tests that never end give no number, a little after their candidate's end") {
  item_wall_clock = milliseconds(1000);
  const json item = {
      {"id", "a"},
      {"code", right_code},
      {"tests", {{"kind", "assert"}, {"source", "while f(1) == 2: pass\nassert f(1) == 2\n"}}}};
  const json idle = {
      {"id", "b"},
      {"code", right_code},
      {"tests", {{"kind", "assert"}, {"source", "while True: pass\nassert f(1) == 2\n"}}}};
  const auto told = verify({item, idle});
  for (const ItemAnswer& answer : told->answers) UNSCOPED_INFO(answer_to_json(answer));
  // Only the first one's tests hear of the candidate's end.
  CHECK(told->of("a").cause == "wall_clock");
  CHECK(told->of("b").verdict == Verdict::invalid);
  CHECK(told->of("b").cause == "judge_failed");
  CHECK(told->of("b").detail.find("its candidate has ended") != std::string::npos);
}

TEST_CASE_METHOD(VerifierFixture, "a candidate that an operator stops is nobody's failure") {
  const auto told = submit({call_item("a", "import time\ntime.sleep(600)")});
  run_until([&] { return table->alive() == 2; });
  for (const RunRecord* run : table->list())
    if (run->parent.empty()) CHECK(table->stop(run->id));
  run_until([&] { return told->ended; });
  CHECK(told->of("a").verdict == Verdict::invalid);
  CHECK(told->of("a").cause == "killed_by_request");
}

TEST_CASE_METHOD(VerifierFixture, "a drain lets go on what is alive, and what waits is invalid") {
  remake_verifier({.items_alive = 1});
  const auto told =
      submit({call_item("alive", "import time\ntime.sleep(1)\n" + std::string(right_code)),
              call_item("waiting", right_code)});
  run_until([&] { return table->alive() == 2; });
  bool drained = false;
  table->drain(seconds(20), DrainUntil::end_of_daemon, [&](const DrainResult&) { drained = true; });
  verifier->drain();
  CHECK_FALSE(verifier->submit(batch({call_item("late", right_code)}), {}));
  run_until([&] { return told->ended && drained; });
  CHECK(told->of("alive").verdict == Verdict::pass);
  CHECK(told->of("waiting").cause == "shutdown");
}

TEST_CASE_METHOD(VerifierFixture, "no room among the runs is waited for") {
  remake({.alive_max = 1, .queued_max = 1});
  remake_verifier({.items_alive = 2});
  CHECK(TableFixture::submit("sleep 0.5"));
  CHECK(TableFixture::submit("sleep 0.2"));
  CHECK_FALSE(TableFixture::submit("true"));
  const auto told = verify({call_item("a", right_code), call_item("b", right_code)});
  CHECK(told->of("a").verdict == Verdict::pass);
  CHECK(told->of("b").verdict == Verdict::pass);
}

TEST_CASE_METHOD(VerifierFixture,
                 "paused, a request gets no more items started, and others go on") {
  remake_verifier({.items_alive = 1});
  std::vector<json> items;
  for (int i = 0; i < 4; ++i) items.push_back(call_item(std::to_string(i), right_code));
  const auto told = submit(items);
  const auto batch_id = last_batch;
  run_until([&] { return told->answers.size() == 1; });
  verifier->pause(batch_id, true);
  run_until([&] { return verifier->alive() == 0; });
  const std::size_t before = told->answers.size();
  CHECK(before <= 2);
  CHECK(verify({call_item("other", right_code)})->of("other").verdict == Verdict::pass);
  run_for(milliseconds(300));
  CHECK(told->answers.size() == before);
  CHECK(verifier->queued() == 4 - before);
  verifier->pause(batch_id, false);
  run_until([&] { return told->ended; });
  CHECK(told->answers.size() == 4);
}

TEST_CASE_METHOD(VerifierFixture, "a cached verdict needs no run, and has a code of its own") {
  MacKey mac_key;
  mac_key.id = "0123456789abcdef";
  key = std::optional(mac_key);
  json a = call_item("a", right_code);
  a["nonce"] = "n1";
  json b = call_item("b", right_code);
  b["nonce"] = "n2";
  const auto first = verify({a}, {{"cache", true}});
  const std::size_t runs = table->list().size();
  const auto second = verify({b}, {{"cache", true}});
  CHECK(table->list().size() == runs);
  CHECK_FALSE(first->of("a").cached);
  CHECK(second->of("b").cached);
  CHECK(second->of("b").verdict == Verdict::pass);
  CHECK(second->of("b").runs == first->of("a").runs);
  CHECK(second->of("b").nonce == "n2");
  CHECK(first->of("a").mac == mac_of(first->of("a"), mac_key));
  CHECK(second->of("b").mac == mac_of(second->of("b"), mac_key));
  CHECK(second->of("b").mac != first->of("a").mac);
  CHECK(count("verify.verdict") == 2);
  CHECK_FALSE(verify({call_item("c", right_code)})->of("c").cached);
  const auto other = submit({call_item("d", right_code)}, {{"cache", true}}, "other");
  run_until([&] { return other->ended; });
  CHECK_FALSE(other->of("d").cached);
}

TEST_CASE_METHOD(VerifierFixture, "without the tenant's key nothing goes out in its name") {
  key = kernel::fail(kernel::ErrorCode::internal, "the key can be read by others");
  const auto told = verify({call_item("a", right_code)});
  CHECK(told->of("a").verdict == Verdict::invalid);
  CHECK(told->of("a").cause == "internal");
  CHECK(told->of("a").detail == "the key can be read by others");
}

TEST_CASE_METHOD(VerifierFixture,
                 "ten thousand bad items among good ones are answered in seconds") {
  std::vector<json> items;
  for (int i = 0; i < 9'998; ++i) items.push_back(json({{"id", std::to_string(i)}, {"code", ""}}));
  items.push_back(call_item("good", right_code));
  items.push_back(call_item("wrong", wrong_code));
  const auto told = verify(items);
  CHECK(told->answers.size() == 10'000);
  CHECK(told->of("good").verdict == Verdict::pass);
  CHECK(told->of("wrong").verdict == Verdict::fail);
}

TEST_CASE_METHOD(VerifierFixture,
                 "ten thousand waiting items are cancelled sooner than they are taken") {
  remake_verifier({.items_alive = 1});
  std::vector<json> items;
  for (int i = 0; i < 10'000; ++i) items.push_back(call_item(std::to_string(i), right_code));
  const auto begin = kernel::Clock::now();
  const auto told = submit(items);
  const auto taken = kernel::Clock::now();
  run_until([&] { return verifier->alive() == 1; });
  const auto cancelling = kernel::Clock::now();
  verifier->cancel(last_batch);
  CHECK(kernel::Clock::now() - cancelling < taken - begin);
  CHECK(verifier->queued() == 0);
  run_until([&] { return verifier->alive() == 0; });
}
