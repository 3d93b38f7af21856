// What a run waits for in the ledger, and who hears of it when.

#include <csignal>
#include <filesystem>

#include "kernel/base/hash.hpp"
#include "supervisor/runs/table_fixture.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::Cause;
using kernel::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::TableFixture;
using Kinds = std::vector<std::string>;

namespace {

// Remembers what it was called with, in order.
struct Heard {
  RunObserver observer() {
    return {.on_started = [this](const RunRecord&) { calls.emplace_back("started"); },
            .on_output = {},
            .on_finished =
                [this](const RunRecord& run) {
                  calls.emplace_back("finished");
                  finished = run;
                },
            .on_accepted = [this](const RunRecord&) { calls.emplace_back("accepted"); },
            .on_refused =
                [this](const kernel::Error& error) {
                  calls.emplace_back("refused");
                  refused = error;
                }};
  }

  std::vector<std::string> calls;
  std::optional<RunRecord> finished;
  std::optional<kernel::Error> refused;
};

}  // namespace

TEST_CASE_METHOD(TableFixture, "each step of a run is recorded, in order, with the same row") {
  Heard heard;
  ResolvedRun asked = shell("echo text; echo more >&2");
  asked.tenant = "blue";
  asked.agent = "python";
  asked.parent = "r-fedcba9876543210";
  const RunId id = table->submit(std::move(asked), heard.observer()).value();
  run_until_finished(id);
  CHECK(heard.calls == Kinds{"accepted", "started", "finished"});
  CHECK(recorder.kinds() == Kinds{"run.starting", "run.running", "run.finished"});
  for (const Transition& transition : recorder.committed) {
    CHECK(transition.event.subject == id);
    CHECK(transition.event.tenant == "blue");
    REQUIRE(transition.run);
    CHECK(transition.run->id == id);
    CHECK(transition.run->agent == "python");
    CHECK(transition.run->parent == "r-fedcba9876543210");
    CHECK("run." + transition.run->state == transition.event.kind);
  }
  CHECK(recorder.committed[0].policy.has_value());
  CHECK_FALSE(recorder.committed[0].run->launcher.has_value());
  const RunRow& running = *recorder.committed[1].run;
  REQUIRE(running.launcher);
  REQUIRE(running.agent_process);
  CHECK(running.launcher->pid != running.agent_process->pid);
  CHECK(running.started_us >= running.created_us);
  const RunRow& last = *recorder.last().run;
  CHECK(last.cause == "exited");
  CHECK(last.launcher == running.launcher);
  CHECK(last.ended_us >= running.started_us);
  CHECK(heard.finished->recorded);
}

TEST_CASE_METHOD(TableFixture, "a run shows what is recorded of its argv, and starts all of it") {
  ResolvedRun asked = shell("echo \"$0\"; : long text");
  asked.recorded = std::make_shared<const RecordedArgv>(recorded_argv_naming("test", asked.argv));
  const RunId id = table->submit(std::move(asked), {}).value();
  CHECK(result(id).stdout == "/bin/sh\n");
  REQUIRE(table->find(id)->argv.size() == 3);
  CHECK(table->find(id)->argv.back().starts_with("<paddock test, sha256:"));
}

TEST_CASE_METHOD(TableFixture,
                 "nobody hears of a run, and no process is there, before the commit") {
  const std::string file = "/var/tmp/paddock-recorded-" + std::to_string(::getpid());
  recorder.hold();
  Heard heard;
  const RunId id = submit("touch " + file, heard.observer()).value();
  run_for(milliseconds(100));
  CHECK(heard.calls.empty());
  CHECK(table->list().empty());
  CHECK(table->queued() == 1);
  CHECK(table->alive() == 0);
  CHECK_FALSE(std::filesystem::exists(file));
  recorder.release();
  run_until_finished(id);
  CHECK(std::filesystem::remove(file));
}

TEST_CASE_METHOD(TableFixture, "the digests on record are of what was kept of the output") {
  ResolvedRun asked = shell("yes out | head -c 100000; yes err | head -c 500 >&2");
  asked.policy.output_bytes = 7001;
  const RunId id = table->submit(std::move(asked), {}).value();
  const kernel::SandboxResult kept = result(id);
  REQUIRE(kept.stdout.size() == 7001);
  REQUIRE(kept.stderr.size() == 500);
  const std::string& body = recorder.last().event.body;
  INFO(body);
  CHECK(body.find("\"stdout_sha256\":\"" + kernel::sha256_hex(kept.stdout)) != std::string::npos);
  CHECK(body.find("\"stderr_sha256\":\"" + kernel::sha256_hex(kept.stderr)) != std::string::npos);
}

TEST_CASE_METHOD(TableFixture, "the program does not wait for its run.running to be written") {
  Heard heard;
  RunObserver observer = heard.observer();
  observer.on_accepted = [&](const RunRecord&) {
    heard.calls.emplace_back("accepted");
    recorder.hold();
  };
  const RunId id = submit("echo done", observer).value();
  run_until([&] { return heard.calls.size() == 2; });
  run_until([&] { return table->alive() == 0; });
  run_for(milliseconds(50));
  CHECK(heard.calls == Kinds{"accepted", "started"});
  CHECK(table->find(id)->phase == RunPhase::running);
  CHECK_FALSE(table->find(id)->result);
  CHECK(recorder.waiting() == 2);
  recorder.release();
  run_until_finished(id);
  CHECK(recorder.kinds() == Kinds{"run.starting", "run.running", "run.finished"});
}

TEST_CASE_METHOD(TableFixture,
                 "who records what comes of a run hears of its end before that is written") {
  Heard heard;
  RunObserver observer = heard.observer();
  observer.on_ended = [&](const RunRecord& run, const kernel::SandboxResult& ended) {
    heard.calls.emplace_back("ended");
    CHECK(run.phase == RunPhase::running);
    CHECK_FALSE(run.result);
    CHECK(ended.stdout == "done\n");
    CHECK(recorder.waiting_kinds() == Kinds{"run.finished"});
    recorder.commit({}, IfUnwritten::keep,
                    [&](const auto&) { heard.calls.emplace_back("recorded"); });
  };
  const RunId id = submit("sleep 0.1; echo done", observer).value();
  run_until([&] { return recorder.kinds() == Kinds{"run.starting", "run.running"}; });
  recorder.hold();
  run_until([&] { return heard.calls.size() == 3; });
  run_for(milliseconds(50));
  CHECK(heard.calls == Kinds{"accepted", "started", "ended"});
  recorder.release();
  run_until([&] { return heard.calls.size() == 5; });
  CHECK(heard.calls == Kinds{"accepted", "started", "ended", "finished", "recorded"});
  CHECK(table->find(id)->result->stdout == "done\n");
}

TEST_CASE("who stops a run that waits is not told of its end from within that") {
  TableFixture fixture({.alive_max = 1});
  const RunId first = fixture.submit("sleep 300").value();
  int ends = 0;
  RunObserver observer;
  observer.on_ended = [&](const RunRecord&, const kernel::SandboxResult& ended) {
    ++ends;
    CHECK(ended.detail == still_queued_detail);
  };
  const RunId waits = fixture.submit("echo never", observer).value();
  fixture.run_until([&] { return fixture.table->list().size() == 2; });
  fixture.recorder.hold();
  CHECK(fixture.table->stop(waits));
  CHECK(ends == 0);
  fixture.run_until([&] { return ends == 1; });
  fixture.recorder.release();
  fixture.run_until_finished(waits);
  CHECK(ends == 1);
  CHECK(fixture.table->stop(first));
  fixture.run_until_finished(first);
}

TEST_CASE_METHOD(TableFixture, "a run whose first transition cannot be written never was") {
  recorder.refused_kind = "run.starting";
  Heard heard;
  const RunId id = submit("echo never", heard.observer()).value();
  run_until([&] { return !heard.calls.empty(); });
  run_for(milliseconds(50));
  CHECK(heard.calls == Kinds{"refused"});
  CHECK(heard.refused->code == ErrorCode::not_recorded);
  CHECK(table->find(id) == nullptr);
  CHECK(table->list().empty());
  CHECK(table->queued() == 0);
  CHECK(recorder.committed.empty());
  recorder.refused_kind.clear();
  CHECK(result(submit("echo next").value()).stdout == "next\n");
}

TEST_CASE("a refused run gives its place in the queue back, by number and by bytes") {
  TableFixture fixture({.alive_max = 1, .queued_max = 1, .queued_bytes_max = 1000});
  fixture.recorder.refused_kind = "run.queued";
  const RunId running = fixture.submit("sleep 300").value();
  fixture.run_until([&] { return fixture.table->find(running)->receipt.has_value(); });
  for (int i = 0; i < 3; ++i) {
    Heard heard;
    REQUIRE(fixture.submit(": " + std::string(600, 'x'), heard.observer()));
    fixture.run_until([&] { return heard.refused.has_value(); });
  }
  CHECK(fixture.table->stop(running));
  fixture.run_until_finished(running);
}

TEST_CASE("a run that has to wait is recorded as queued, then as starting, in order") {
  TableFixture fixture({.alive_max = 1});
  const RunId first = fixture.submit("sleep 0.1").value();
  const RunId second = fixture.submit("true").value();
  const RunId third = fixture.submit("true").value();
  fixture.run_until_finished(third);
  std::vector<std::string> of_second;
  std::vector<RunId> starting;
  for (const Transition& transition : fixture.recorder.committed) {
    if (transition.event.subject == second) of_second.push_back(transition.event.kind);
    if (transition.event.kind == "run.starting") starting.push_back(transition.event.subject);
  }
  CHECK(of_second == Kinds{"run.queued", "run.starting", "run.running", "run.finished"});
  CHECK(starting == std::vector<RunId>{first, second, third});
}

TEST_CASE("a queued run whose start cannot be written ends, with the reason, and is recorded") {
  TableFixture fixture({.alive_max = 1});
  const RunId first = fixture.submit("sleep 0.2").value();
  Heard heard;
  const RunId second = fixture.submit("echo never", heard.observer()).value();
  fixture.run_until([&] { return !heard.calls.empty(); });
  fixture.recorder.refused_kind = "run.starting";
  fixture.run_until_finished(second);
  CHECK(heard.calls == Kinds{"accepted", "finished"});
  CHECK(heard.finished->result->cause == Cause::internal);
  CHECK(heard.finished->result->detail.find("the disk is full") != std::string::npos);
  CHECK(fixture.recorder.last().run->cause == "internal");
  CHECK(fixture.table->queued() == 0);
  CHECK(fixture.table->find(first)->phase == RunPhase::finished);
}

TEST_CASE_METHOD(TableFixture, "a run that is stopped while its commit is under way never starts") {
  const std::string file = "/var/tmp/paddock-stopped-" + std::to_string(::getpid());
  recorder.hold();
  Heard heard;
  const RunId id = submit("touch " + file, heard.observer()).value();
  CHECK(table->stop(id));
  CHECK(table->stop(id, Cause::shutdown));
  run_for(milliseconds(20));
  CHECK(heard.calls.empty());
  recorder.release();
  run_until_finished(id);
  run_for(milliseconds(50));
  CHECK(heard.calls == Kinds{"accepted", "finished"});
  CHECK(table->find(id)->result->cause == Cause::killed_by_request);
  CHECK(recorder.kinds() == Kinds{"run.starting", "run.finished"});
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(table->queued() == 0);
}

TEST_CASE("a queued run that is stopped while its start is being written never starts") {
  TableFixture fixture({.alive_max = 1});
  const RunId first = fixture.submit("sleep 0.1").value();
  const RunId second = fixture.submit("echo never").value();
  fixture.run_until([&] { return fixture.table->list().size() == 2; });
  fixture.run_until([&] { return fixture.table->find(first)->receipt.has_value(); });
  fixture.recorder.hold();
  fixture.run_until([&] { return fixture.table->alive() == 0; });
  fixture.run_for(milliseconds(50));  // its start waits behind the outcome of the first
  CHECK(fixture.table->stop(second));
  fixture.recorder.release();
  CHECK(fixture.result(second).cause == Cause::killed_by_request);
  CHECK(fixture.result(second).stdout.empty());
  const RunId next = fixture.submit("echo next").value();
  CHECK(fixture.result(next).stdout == "next\n");
}

TEST_CASE("a slot is free as soon as its process is gone, not when that is written") {
  TableFixture fixture({.alive_max = 1});
  const RunId first = fixture.submit("true").value();
  fixture.run_until([&] { return fixture.table->find(first)->receipt.has_value(); });
  fixture.recorder.hold();
  fixture.run_until([&] { return fixture.table->alive() == 0; });
  CHECK(fixture.table->find(first)->phase == RunPhase::running);
  // It is recorded as starting at once: nobody is in its way.
  const RunId second = fixture.submit("echo second").value();
  fixture.recorder.release();
  CHECK(fixture.result(second).stdout == "second\n");
  for (const Transition& transition : fixture.recorder.committed)
    CHECK(transition.event.kind != "run.queued");
}

TEST_CASE("while the ledger cannot be written, new runs are refused and accepted ones wait") {
  TableFixture fixture({.alive_max = 1});
  const RunId first = fixture.submit("sleep 0.1").value();
  const RunId second = fixture.submit("echo second").value();
  fixture.run_until([&] { return fixture.table->list().size() == 2; });
  fixture.recorder.writing = false;
  const auto refused = fixture.submit("true");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::not_recorded);
  fixture.run_until_finished(first);
  fixture.run_for(milliseconds(100));
  CHECK(fixture.table->find(second)->phase == RunPhase::queued);
  fixture.recorder.writing = true;
  CHECK(fixture.result(second).stdout == "second\n");
}

TEST_CASE_METHOD(TableFixture, "an outcome that is not written in time is told as not recorded") {
  Heard heard;
  const RunId id = submit("echo text", heard.observer()).value();
  run_until([&] { return !heard.calls.empty(); });
  recorder.hold();
  const auto begin = kernel::Clock::now();
  run_until([&] { return heard.finished.has_value(); });
  const auto waited = kernel::Clock::now() - begin;
  CHECK(waited > milliseconds(4900));
  CHECK(waited < seconds(8));
  CHECK_FALSE(heard.finished->recorded);
  CHECK(heard.finished->result->stdout == "text\n");
  CHECK_FALSE(table->find(id)->recorded);
  // It is still tried, and then is so; nobody is told twice.
  recorder.release();
  run_until([&] { return table->find(id)->recorded; });
  CHECK(recorder.last().event.kind == "run.finished");
  CHECK(heard.calls == Kinds{"accepted", "started", "finished"});
}

TEST_CASE_METHOD(TableFixture, "draining waits until the outcomes are written") {
  const RunId id = submit("true").value();
  run_until([&] { return table->find(id)->receipt.has_value(); });
  recorder.hold();
  run_until([&] { return table->alive() == 0; });
  bool drained = false;
  table->drain(seconds(30), DrainUntil::cancelled, [&](const DrainResult&) { drained = true; });
  run_for(milliseconds(200));
  CHECK_FALSE(drained);
  recorder.release();
  run_until([&] { return drained; });
  CHECK(recorder.last().run->cause == "exited");
}

TEST_CASE_METHOD(TableFixture, "draining ends what is being recorded, without a process") {
  recorder.hold();
  Heard heard;
  const RunId id = submit("echo never", heard.observer()).value();
  bool drained = false;
  table->drain(seconds(30), DrainUntil::cancelled, [&](const DrainResult&) { drained = true; });
  recorder.release();
  run_until([&] { return drained; });
  CHECK(table->find(id)->result->cause == Cause::shutdown);
  CHECK(recorder.kinds() == Kinds{"run.starting", "run.finished"});
}

TEST_CASE("a table that goes away leaves the outcomes of its runs to the recorder") {
  TableFixture fixture({.alive_max = 1});
  const RunId alive = fixture.submit("sleep 300").value();
  const RunId queued = fixture.submit("true").value();
  fixture.run_until([&] { return fixture.table->find(alive)->receipt.has_value(); });
  fixture.run_until([&] { return fixture.table->list().size() == 2; });
  fixture.table.reset();
  fixture.run_until([&] { return fixture.recorder.waiting() == 0; });
  std::map<RunId, std::string> causes;
  for (const Transition& transition : fixture.recorder.committed)
    if (transition.event.kind == "run.finished")
      causes[transition.event.subject] = transition.run->cause;
  CHECK(causes == std::map<RunId, std::string>{{alive, "shutdown"}, {queued, "shutdown"}});
}
