// The table on a real loop with real runs, without limits and isolation.

#include "supervisor/runs/run_table.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "kernel/base/process_tree.hpp"
#include "supervisor/runs/table_fixture.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::Cause;
using kernel::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::TableFixture;

TEST_CASE_METHOD(TableFixture,
                 "a run is queued, started by the loop, observed in order, finished") {
  std::vector<std::string> seen;
  const RunId id =
      submit("echo text", {.on_started =
                               [&](const RunRecord& run) {
                                 seen.emplace_back("started");
                                 CHECK(run.receipt);
                               },
                           .on_output = [&](kernel::Stream,
                                            std::string_view bytes) { seen.emplace_back(bytes); },
                           .on_finished =
                               [&](const RunRecord& run) {
                                 seen.emplace_back("finished");
                                 CHECK(run.phase == RunPhase::finished);
                                 CHECK(run.result->stdout == "text\n");
                               }})
          .value();
  CHECK(table->find(id)->phase == RunPhase::queued);
  CHECK(table->queued() == 1);
  CHECK(seen.empty());
  run_until_finished(id);
  CHECK(seen == std::vector<std::string>{"started", "text\n", "finished"});
  CHECK(table->alive() == 0);
  CHECK(table->queued() == 0);
  CHECK(table->find("r-0000000000000000") == nullptr);
}

TEST_CASE("no more runs are alive than allowed, no more wait than allowed, and order is kept") {
  TableFixture fixture({.alive_max = 1, .queued_max = 2});
  std::vector<RunId> order;
  const auto remember = [&](const RunRecord& run) { order.push_back(run.id); };
  std::vector<RunId> ids;
  for (int i = 0; i < 3; ++i)
    ids.push_back(
        fixture.submit("true", {.on_started = {}, .on_output = {}, .on_finished = remember})
            .value());
  const auto refused = fixture.submit("true");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::too_busy);
  fixture.run_until([&] {
    CHECK(fixture.table->alive() <= 1);
    return order.size() == 3;
  });
  CHECK(order == ids);
  const auto listed = fixture.table->list();
  REQUIRE(listed.size() == 3);
  CHECK(listed.front()->id == ids.back());
}

TEST_CASE("a burst is taken as long as alive and queued runs together have room") {
  TableFixture fixture({.alive_max = 3, .queued_max = 1});
  for (int i = 0; i < 4; ++i) CHECK(fixture.submit("sleep 0.1"));
  CHECK_FALSE(fixture.submit("true"));
  fixture.run_until([&] { return fixture.table->alive() == 3; });
  CHECK(fixture.table->queued() == 1);
  CHECK_FALSE(fixture.submit("true"));
  fixture.run_until([&] { return fixture.table->alive() + fixture.table->queued() == 0; });
}

TEST_CASE("the queue is full by bytes, too, and has room again when runs have left it") {
  TableFixture fixture({.alive_max = 1, .queued_bytes_max = 1000});
  const auto with_input = [&](std::size_t bytes) {
    ResolvedRun run = TableFixture::shell("cat >/dev/null");
    run.stdin_bytes.assign(bytes, 'x');
    return fixture.table->submit(std::move(run), {});
  };
  const auto first = with_input(900);
  REQUIRE(first);
  const auto refused = with_input(900);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::too_busy);
  CHECK(refused.error().message.find("1000 bytes") != std::string::npos);
  fixture.run_until_finished(*first);
  const auto later = with_input(900);
  REQUIRE(later);
  fixture.run_until_finished(*later);
}

TEST_CASE("the oldest finished runs are forgotten, by number") {
  TableFixture fixture({.finished_max = 2});
  std::vector<RunId> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(fixture.submit("true").value());
    fixture.run_until_finished(ids.back());
  }
  CHECK(fixture.table->find(ids[0]) == nullptr);
  CHECK(fixture.table->find(ids[1]) == nullptr);
  CHECK(fixture.table->find(ids[2]) != nullptr);
  CHECK(fixture.table->list().size() == 2);
}

TEST_CASE("the oldest finished runs are forgotten by the bytes of their output, argv and policy") {
  TableFixture fixture({.finished_bytes_max = 100'000});
  const RunId first = fixture.submit("head -c 60000 /dev/zero").value();
  fixture.run_until_finished(first);
  const RunId second = fixture.submit("head -c 30000 /dev/zero >&2").value();
  fixture.run_until_finished(second);
  CHECK(fixture.table->find(first) != nullptr);
  const RunId third = fixture.submit(": " + std::string(20000, 'x')).value();
  fixture.run_until_finished(third);
  CHECK(fixture.table->find(first) == nullptr);
  CHECK(fixture.table->find(second) != nullptr);
  // One that is larger than all that may be remembered is still there for whoever asks next.
  const RunId large = fixture.submit("head -c 180000 /dev/zero").value();
  fixture.run_until_finished(large);
  CHECK(fixture.table->find(large)->result->stdout.size() == 180000);
  CHECK(fixture.table->find(third) == nullptr);
}

TEST_CASE_METHOD(TableFixture, "observers come and go, and what one held goes with it") {
  const RunId id = submit("sleep 0.3").value();
  const auto held = std::make_shared<int>(0);
  const auto count = [held](const RunRecord&) { ++*held; };
  const auto first = table->observe(id, count);
  const auto second = table->observe(id, count);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(held.use_count() == 4);
  table->unobserve(id, *first);
  CHECK(held.use_count() == 3);
  table->unobserve(id, *first);
  table->unobserve("r-0000000000000000", *second);
  run_until_finished(id);
  CHECK(*held == 1);
  CHECK(held.use_count() == 2);
  CHECK_FALSE(table->observe(id, count));
  CHECK_FALSE(table->observe("r-0000000000000000", count));
}

TEST_CASE("a run can be stopped in each phase, and only the first time counts") {
  TableFixture fixture({.alive_max = 1});
  const RunId running = fixture.submit("sleep 300").value();
  const RunId queued = fixture.submit("echo never").value();
  fixture.run_until([&] { return fixture.table->find(running)->receipt.has_value(); });

  CHECK(fixture.table->stop(queued));
  CHECK(fixture.table->queued() == 0);
  fixture.run_until_finished(queued);
  CHECK(fixture.table->find(queued)->result->cause == Cause::killed_by_request);
  CHECK(fixture.table->find(queued)->result->killed);

  CHECK(fixture.table->stop(running));
  CHECK(fixture.table->stop(running, Cause::shutdown));
  CHECK(fixture.result(running).cause == Cause::killed_by_request);
  CHECK(fixture.result(running).signal == SIGTERM);
  CHECK(fixture.table->stop(running, Cause::shutdown));
  CHECK(fixture.result(running).cause == Cause::killed_by_request);

  const auto unknown = fixture.table->stop("r-0000000000000000");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
}

TEST_CASE_METHOD(TableFixture, "a run that cannot be planned ends at once, and the next one runs") {
  const RunId impossible = table->submit({}, {}).value();
  const RunId next = submit("echo next").value();
  const kernel::SandboxResult result = this->result(impossible);
  CHECK(result.cause == Cause::internal);
  CHECK(result.detail.find("argv is empty") != std::string::npos);
  CHECK(this->result(next).stdout == "next\n");
}

TEST_CASE_METHOD(TableFixture, "an observer may submit, stop and look from within its call") {
  RunId other;
  RunId child;
  const RunId first = submit("true", {.on_started = {},
                                      .on_output = {},
                                      .on_finished =
                                          [&](const RunRecord& run) {
                                            CHECK(table->find(run.id)->phase == RunPhase::finished);
                                            CHECK(table->stop(other));
                                            child = submit("echo child").value();
                                          }})
                          .value();
  other = submit("sleep 300").value();
  run_until_finished(first);
  CHECK(result(other).cause == Cause::killed_by_request);
  CHECK(result(child).stdout == "child\n");
}

TEST_CASE("input is written to a run while it waits and while it runs, up to a limit") {
  TableFixture fixture({.alive_max = 1, .stdin_pending_bytes_max = 100'000});
  const RunId first = fixture.submit("sleep 300").value();
  ResolvedRun open = TableFixture::shell("cat | wc -c");
  open.stdin_open = true;
  open.stdin_bytes = "12345";
  const RunId id = fixture.table->submit(std::move(open), {}).value();
  CHECK(fixture.table->write_stdin(id, "67890", false));
  const auto too_much = fixture.table->write_stdin(id, std::string(100'000, 'x'), false);
  REQUIRE_FALSE(too_much);
  CHECK(too_much.error().code == ErrorCode::too_busy);
  CHECK(fixture.table->stop(first));
  fixture.run_until([&] { return fixture.table->find(id)->receipt.has_value(); });
  CHECK(fixture.table->write_stdin(id, "abc", false));
  CHECK(fixture.table->write_stdin(id, "de", true));
  const auto closed = fixture.table->write_stdin(id, "f", false);
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == ErrorCode::invalid_request);
  CHECK(fixture.result(id).stdout == "15\n");
  CHECK(fixture.table->write_stdin("r-0000000000000000", "", false).error().code ==
        ErrorCode::not_found);
}

TEST_CASE("draining ends what waits, lets what runs finish, and then says so, once") {
  TableFixture fixture({.alive_max = 1});
  const RunId running = fixture.submit("sleep 0.3; echo done").value();
  const RunId queued = fixture.submit("true").value();
  fixture.run_until([&] { return fixture.table->alive() == 1; });
  int drained = 0;
  fixture.table->drain(seconds(30), DrainUntil::cancelled, [&](const DrainResult&) { ++drained; });
  CHECK(fixture.table->draining());
  CHECK(drained == 0);
  CHECK(fixture.result(queued).cause == Cause::shutdown);
  CHECK(fixture.submit("true").error().code == ErrorCode::draining);
  fixture.run_until([&] { return drained > 0; });
  CHECK(fixture.table->find(running)->result->stdout == "done\n");
  CHECK(fixture.table->alive() == 0);
  CHECK(drained == 1);
}

TEST_CASE_METHOD(TableFixture, "draining with nothing to wait for says so from the loop") {
  int drained = 0;
  table->drain(seconds(30), DrainUntil::cancelled, [&](const DrainResult&) { ++drained; });
  CHECK(drained == 0);
  run_until([&] { return drained == 1; });
}

TEST_CASE_METHOD(TableFixture,
                 "at the drain's deadline what still runs is stopped with its grace") {
  const RunId id = submit("trap 'echo asked; exit' TERM; while :; do sleep 0.02; done").value();
  run_until([&] { return table->find(id)->receipt.has_value(); });
  bool drained = false;
  table->drain(milliseconds(200), DrainUntil::cancelled,
               [&](const DrainResult&) { drained = true; });
  run_until([&] { return drained; });
  CHECK(table->find(id)->result->cause == Cause::shutdown);
  CHECK(table->find(id)->result->stdout == "asked\n");
}

TEST_CASE("killing all leaves no grace, to nobody") {
  TableFixture fixture({.alive_max = 2});
  ResolvedRun patient = TableFixture::shell("trap '' TERM; while :; do sleep 0.05; done");
  patient.policy.grace = std::chrono::minutes(10);
  std::vector<RunId> ids;
  for (int i = 0; i < 3; ++i)
    ids.push_back(fixture.table->submit(ResolvedRun(patient), {}).value());
  fixture.run_until([&] { return fixture.table->find(ids[1])->receipt.has_value(); });
  CHECK(fixture.table->stop(ids[0]));
  fixture.table->kill_all(Cause::shutdown);
  CHECK(fixture.result(ids[0]).cause == Cause::killed_by_request);
  CHECK(fixture.result(ids[1]).cause == Cause::shutdown);
  CHECK(fixture.result(ids[2]).cause == Cause::shutdown);
  CHECK(fixture.table->alive() == 0);
}

TEST_CASE_METHOD(TableFixture, "a table that goes away takes its runs with it") {
  for (int i = 0; i < 3; ++i)
    CHECK(submit("trap '' TERM; setsid sleep 300 & while :; do sleep 0.05; done"));
  run_until([&] { return table->alive() == 3; });
  CHECK(submit("true"));
  table.reset();
  CHECK(kernel::children_of(::getpid()).empty());
}

TEST_CASE("a run beside the slots starts and ends while every slot is taken and others wait") {
  TableFixture fixture({.alive_max = 1, .queued_max = 1});
  const RunId candidate = fixture.submit("sleep 300").value();
  const RunId waiting = fixture.submit("true").value();
  fixture.run_until([&] { return fixture.table->alive() == 1; });
  REQUIRE_FALSE(fixture.submit("true"));
  ResolvedRun judge = TableFixture::shell("sleep 0.1; echo judged");
  judge.beside_slots = true;
  judge.tenant = "blue";
  const RunId id = fixture.table->submit(std::move(judge), {}).value();
  CHECK(fixture.table->queued() == 2);
  CHECK(fixture.table->queued("blue") == 1);
  fixture.run_until([&] { return fixture.table->alive() == 2; });
  CHECK(fixture.table->list().front()->id == id);
  CHECK(fixture.table->queued() == 1);
  CHECK(fixture.table->alive("blue") == 1);
  CHECK(fixture.table->queued("blue") == 0);
  CHECK(fixture.result(id).stdout == "judged\n");
  CHECK(fixture.table->find(candidate)->phase == RunPhase::running);
  CHECK(fixture.table->find(waiting)->phase == RunPhase::queued);
  CHECK(fixture.table->alive() == 1);
  CHECK(fixture.table->queued() == 1);
  std::vector<std::string> of_judge;
  for (const Transition& transition : fixture.recorder.committed)
    if (transition.event.subject == id) of_judge.push_back(transition.event.kind);
  CHECK(of_judge == std::vector<std::string>{"run.starting", "run.running", "run.finished"});
}

TEST_CASE("a run beside the slots takes no turn from the others of its tenant") {
  TableFixture fixture({.alive_max = 1});
  const auto submit_of = [&](const char* tenant, const char* script, bool beside) {
    ResolvedRun run = TableFixture::shell(script);
    run.tenant = tenant;
    run.beside_slots = beside;
    return fixture.table->submit(std::move(run), {}).value();
  };
  // Were the judge counted, blue would have a live run and red's would come first.
  const RunId other = submit_of("green", "sleep 300", false);
  const RunId judge = submit_of("blue", "sleep 300", true);
  const RunId blue = submit_of("blue", "sleep 300", false);
  const RunId red = submit_of("red", "true", false);
  fixture.run_until([&] { return fixture.table->alive() == 2; });
  CHECK(fixture.table->stop(other));
  fixture.run_until([&] { return fixture.table->find(blue)->receipt.has_value(); });
  CHECK(fixture.table->find(red)->phase == RunPhase::queued);
  CHECK(fixture.table->alive() == 2);
  CHECK(fixture.table->stop(blue));
  fixture.run_until_finished(red);
  CHECK(fixture.table->find(judge)->phase == RunPhase::running);
  CHECK(fixture.table->stop(judge));
  CHECK(fixture.result(judge).cause == Cause::killed_by_request);
}

TEST_CASE("while draining a run beside the slots is taken until the drain is over") {
  TableFixture fixture({.alive_max = 1});
  const auto judge = [&](const char* script) {
    ResolvedRun run = TableFixture::shell(script);
    run.beside_slots = true;
    return fixture.table->submit(std::move(run), {});
  };
  const RunId candidate = fixture.submit("sleep 300").value();
  fixture.run_until([&] { return fixture.table->alive() == 1; });
  const auto before = judge("echo before");  // has no process yet when the drain begins
  std::optional<DrainResult> drained;
  fixture.table->drain(milliseconds(500), DrainUntil::cancelled,
                       [&](const DrainResult& result) { drained = result; });
  const auto during = judge("echo during");
  const auto late = judge("trap '' TERM; while :; do sleep 0.02; done");
  REQUIRE(during);
  CHECK(fixture.result(*before).stdout == "before\n");
  CHECK(fixture.result(*during).stdout == "during\n");
  CHECK_FALSE(drained);
  fixture.run_until_finished(candidate);
  REQUIRE(fixture.table->find(*late)->phase == RunPhase::running);  // has its grace
  CHECK(judge("true").error().code == ErrorCode::draining);
  fixture.table->kill_all(Cause::shutdown);
  CHECK(fixture.result(*late).cause == Cause::shutdown);
  fixture.run_until([&] { return drained.has_value(); });
  CHECK(*drained == DrainResult{.finished = 2, .killed = 2});
  CHECK(judge("true").error().code == ErrorCode::draining);
  CHECK(fixture.table->undrain());
  CHECK(fixture.result(judge("echo again").value()).stdout == "again\n");
}

TEST_CASE("who gets a slot is told once, before the start, and may bring another run") {
  TableFixture fixture({.alive_max = 1});
  std::vector<std::string> seen;
  std::vector<RunId> judges;
  const auto observer = [&](const std::string& name) {
    return RunObserver{
        .on_started = [&seen, name](const RunRecord&) { seen.push_back(name + " started"); },
        .on_output = {},
        .on_finished = [&seen, name](const RunRecord&) { seen.push_back(name + " finished"); },
        .on_accepted = [&seen, name](const RunRecord&) { seen.push_back(name + " accepted"); },
        .on_refused = {},
        .on_slot =
            [&, name](const RunRecord& run) {
              seen.push_back(name + " slot");
              CHECK(fixture.table->find(run.id)->phase == RunPhase::queued);
              ResolvedRun judge = TableFixture::shell("true");
              judge.beside_slots = true;
              judges.push_back(fixture.table->submit(std::move(judge), {}).value());
            }};
  };
  const RunId first = fixture.submit("sleep 0.1", observer("first")).value();
  CHECK(fixture.table->has_slot(first));
  const RunId second = fixture.submit("true", observer("second")).value();
  CHECK_FALSE(fixture.table->has_slot(second));
  CHECK(seen.empty());
  fixture.run_until_finished(second);
  using Steps = std::vector<std::string>;
  const auto of = [&](const std::string& name) {
    Steps steps;
    for (const std::string& step : seen)
      if (step.starts_with(name)) steps.push_back(step.substr(name.size() + 1));
    return steps;
  };
  CHECK(of("first") == Steps{"accepted", "started", "finished"});
  CHECK(of("second") == Steps{"accepted", "slot", "started", "finished"});
  const auto at = [&](const char* step) { return std::find(seen.begin(), seen.end(), step); };
  CHECK(at("first started") < at("second slot"));
  CHECK(fixture.table->has_slot(second));
  CHECK_FALSE(fixture.table->has_slot("r-0000000000000000"));
  REQUIRE(judges.size() == 1);
  fixture.run_until_finished(judges.front());
}

TEST_CASE_METHOD(TableFixture,
                 "a run that is stopped when it is told of its slot gets no process") {
  RunObserver observer;
  observer.on_slot = [&](const RunRecord& run) { CHECK(table->stop(run.id)); };
  remake({.alive_max = 1});
  const RunId first = submit("sleep 300").value();
  const RunId queued = submit("echo never", observer).value();
  run_until([&] { return table->alive() == 1; });
  CHECK(table->stop(first));
  CHECK(result(queued).detail == still_queued_detail);
}

TEST_CASE("a run's channel is its program's alone as soon as it has a process") {
  TableFixture fixture({.alive_max = 1});
  const auto with_channel = [&](const char* script, kernel::Fd& ours) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    ours = kernel::Fd(ends[0]);
    ResolvedRun run = TableFixture::shell(script);
    run.channel = std::make_shared<kernel::Fd>(ends[1]);
    return fixture.table->submit(std::move(run), {}).value();
  };
  const auto at_end = [](const kernel::Fd& ours) {
    char byte = 0;
    return ::recv(ours.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
  };
  kernel::Fd talks;
  const RunId id =
      with_channel("read line <&3; echo \"got $line\" >&3; exec 3>&-; sleep 300", talks);
  REQUIRE(::write(talks.get(), "text\n", 5) == 5);
  fixture.run_until([&] { return fixture.table->find(id)->receipt.has_value(); });
  std::string answer;
  fixture.run_until([&] {
    char bytes[64];
    const ssize_t count = ::recv(talks.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) answer.append(bytes, static_cast<std::size_t>(count));
    return at_end(talks);
  });
  CHECK(answer == "got text\n");
  CHECK(fixture.table->find(id)->phase == RunPhase::running);

  kernel::Fd waits;
  const RunId never_started = with_channel("true", waits);
  fixture.run_for(milliseconds(20));
  CHECK_FALSE(at_end(waits));
  CHECK(fixture.table->stop(never_started));
  CHECK(at_end(waits));
  CHECK(fixture.table->stop(id));
  fixture.run_until_finished(id);
}
