// Runs that ask to be forks, with a source whose forks are ordinary runs that may be lost before
// their gates.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "supervisor/runs/table_fixture.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::tests;
using std::chrono::milliseconds;

namespace {

class Source final : public WarmSource {
 public:
  explicit Source(const kernel::Sandbox& sandbox) : sandbox_(sandbox) {}

  Fork start(const std::shared_ptr<const WarmWish>&, const kernel::SandboxPolicy& policy,
             const std::string&, const std::string& tenant, const std::vector<std::string>& argv,
             const RunId& id, kernel::RunOptions options) override {
    tenants.push_back(tenant);
    told.push_back("start");
    if (!cold_because.empty()) return {.run = nullptr, .cold_because = cold_because};
    auto run = sandbox_.start(policy, argv, "", id, std::move(options));
    REQUIRE(run);
    if (is_lost) (*run)->kill(kernel::Cause::internal);  // before its gate
    return {.run = std::move(*run)};
  }
  void gate_opened(const RunId&) override { told.emplace_back("gate_opened"); }
  void lost(const RunId&, Lost how, Suspect suspect, const std::string&) override {
    told.emplace_back(how == Lost::by_itself ? "lost" : "stopped");
    is_zygote_suspect = suspect == Suspect::zygote;
  }
  bool has_lost_zygote(const RunId&) override {
    ++asked;
    return zygote_lost_when_asked != 0 && asked >= zygote_lost_when_asked;
  }
  void ended(const RunId&, bool) override { told.emplace_back("ended"); }
  bool is_launcher(pid_t) const override { return false; }

  std::string cold_because;
  bool is_lost = false;
  bool is_zygote_suspect = false;
  int asked = 0;
  int zygote_lost_when_asked = 0;  // 0: it never is
  std::vector<std::string> told;
  std::vector<std::string> tenants;

 private:
  const kernel::Sandbox& sandbox_;
};

struct WarmFixture : TableFixture {
  WarmFixture() {
    table.reset();
    table = std::make_unique<RunTable>(loop->get(), sandbox, recorder, RunTableLimits{}, nullptr,
                                       &source);
  }
  ~WarmFixture() { table.reset(); }

  static ResolvedRun wishing(const std::string& script) {
    ResolvedRun run = shell(script);
    run.warm = std::make_shared<const WarmWish>();
    return run;
  }

  RunId run_whose_launcher_is_killed() {
    bool has_started = false;
    RunObserver observer;
    observer.on_started = [&](const RunRecord&) { has_started = true; };
    const RunId id = table->submit(wishing("sleep 60"), std::move(observer)).value();
    run_until([&] { return has_started; });
    ::kill(table->find(id)->marks.launcher->pid, SIGKILL);
    return id;
  }

  Source source{sandbox};
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(WarmFixture, "a run that asks for it is a fork, and its record says so") {
  const RunId id = table->submit(wishing("echo hello"), {}).value();
  CHECK(result(id).stdout == "hello\n");
  CHECK(table->find(id)->warm == true);
  CHECK(table->find(id)->cold_because.empty());
  CHECK(source.told == Lines{"start", "gate_opened", "ended"});
}

TEST_CASE_METHOD(WarmFixture,
                 "one that does not ask is none, and its record does not speak of it") {
  const RunId id = submit("echo hello").value();
  CHECK(result(id).stdout == "hello\n");
  CHECK_FALSE(table->find(id)->warm.has_value());
  CHECK(source.told.empty());
}

TEST_CASE_METHOD(WarmFixture, "one that cannot be a fork runs all the same, and says why") {
  source.cold_because = "no zygote is ready";
  const RunId id = table->submit(wishing("echo hello"), {}).value();
  CHECK(result(id).stdout == "hello\n");
  CHECK(table->find(id)->warm == false);
  CHECK(table->find(id)->cold_because == "no zygote is ready");
  CHECK(source.told == Lines{"start", "ended"});
}

TEST_CASE_METHOD(WarmFixture,
                 "a fork that is lost before its gate starts again, once, as the same run") {
  source.is_lost = true;
  ResolvedRun run = wishing("cat; echo done");
  run.stdin_bytes = "given\n";
  int started = 0;
  int finished = 0;
  std::string output;
  RunObserver observer;
  observer.on_started = [&](const RunRecord& record) {
    ++started;
    CHECK(record.warm == false);
  };
  observer.on_output = [&](kernel::Stream, std::string_view bytes) { output += bytes; };
  observer.on_finished = [&](const RunRecord&) { ++finished; };
  const RunId id = table->submit(std::move(run), std::move(observer)).value();
  CHECK(result(id).stdout == "given\ndone\n");
  CHECK(result(id).cause == kernel::Cause::exited);
  CHECK(output == "given\ndone\n");
  CHECK(started == 1);
  CHECK(finished == 1);
  CHECK(table->find(id)->warm == false);
  CHECK(table->find(id)->cold_because.find("its fork was lost") == 0);
  CHECK(source.told == Lines{"start", "lost", "ended"});
  CHECK_FALSE(source.is_zygote_suspect);  // it had been born
  CHECK(table->alive() == 0);
}

TEST_CASE_METHOD(WarmFixture, "who asks for a fork says whose run it is") {
  ResolvedRun run = wishing("true");
  run.tenant = "alice";
  result(table->submit(std::move(run), {}).value());
  CHECK(source.tenants == Lines{"alice"});
}

TEST_CASE_METHOD(WarmFixture,
                 "a fork whose launcher is gone is not blamed before its zygote was heard of") {
  const auto killed = [&](int lost_when_asked) {
    source.asked = 0;
    source.zygote_lost_when_asked = lost_when_asked;
    const RunId id = run_whose_launcher_is_killed();
    return result(id);
  };
  const kernel::SandboxResult at_once = killed(1);
  CHECK(at_once.cause == kernel::Cause::internal);
  CHECK(at_once.detail == "its zygote was killed");
  CHECK(killed(5).cause == kernel::Cause::internal);
  CHECK(source.asked == 5);

  const kernel::SandboxResult alone = killed(0);  // the zygote is there all the time
  CHECK(alone.cause == kernel::Cause::tampered);
  CHECK(source.asked > 5);
}

TEST_CASE_METHOD(WarmFixture, "a table that goes records a fork that waits to hear of its zygote") {
  const RunId id = run_whose_launcher_is_killed();
  run_until([&] { return source.asked > 0; });
  CHECK(table->stop(id));  // there is nothing to stop any more
  CHECK_FALSE(table->write_stdin(id, "more", false));
  table.reset();
  REQUIRE(recorder.waiting() > 0);
  CHECK(recorder.waiting_kinds().back() == "run.finished");
}

TEST_CASE_METHOD(WarmFixture,
                 "the channel and later input of a lost fork are there for the next start") {
  source.is_lost = true;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const kernel::Fd theirs(ends[0]);
  ResolvedRun run = wishing("cat; echo on the channel >&3");
  run.channel = std::make_shared<kernel::Fd>(ends[1]);
  run.stdin_open = true;
  const RunId id = table->submit(std::move(run), {}).value();
  run_until([&] { return !source.told.empty(); });  // the fork is there, and is being lost
  CHECK(table->write_stdin(id, "later\n", true));
  CHECK(result(id).stdout == "later\n");
  char bytes[64];
  CHECK(::read(theirs.get(), bytes, sizeof bytes) == 15);
  CHECK(::read(theirs.get(), bytes, sizeof bytes) == 0);  // nobody else holds it
}

TEST_CASE_METHOD(WarmFixture, "a fork that is stopped before its gate does not start again") {
  const RunId id = table->submit(wishing("sleep 60"), {}).value();
  run_until([&] { return !source.told.empty(); });
  REQUIRE(table->stop(id));
  CHECK(result(id).cause == kernel::Cause::killed_by_request);
  CHECK(source.told.front() == "start");
  CHECK(source.told.back() == "ended");
  CHECK(std::find(source.told.begin(), source.told.end(), "lost") == source.told.end());
}

TEST_CASE_METHOD(WarmFixture, "a table that goes leaves no fork, whatever it waits for") {
  table->submit(wishing("sleep 60"), {}).value();
  run_until([&] { return !source.told.empty(); });
  table.reset();
  CHECK(source.told.back() != "lost");
}
