// A run that stands still, and goes on, and can be ended all the same.

#include <csignal>

#include "kernel/base/process_tree.hpp"
#include "sandbox/sandbox_fixture.hpp"
#include "sandbox/test_cgroup.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::milliseconds;

namespace {

// Three that write, one of them in a session of its own and without a parent.
constexpr const char* talkers =
    "t() { while :; do echo x; sleep 0.01; done; }; t & (setsid sh -c "
    "'while :; do echo y; sleep 0.01; done' &) ; t";

struct Talking {
  explicit Talking(const SandboxPolicy& policy, const std::string& cgroup_base = no_cgroup_base)
      : sandbox(Sandbox::open({.cgroup_base = cgroup_base}).value()) {
    RunOptions options;
    options.on_output = [this](Stream, std::string_view bytes) { heard += bytes.size(); };
    live =
        sandbox.start(policy, {"sh", "-c", talkers}, "", "r-0123456789abcdef", std::move(options))
            .value();
  }

  // Ends the driving loop's part of a test: `steps` are taken in turn, each once it says so.
  void drive(const std::vector<std::function<bool()>>& steps) {
    std::size_t step = 0;
    drive_all({live.get()}, [&] {
      if (step < steps.size() && steps[step]()) ++step;
    });
    CHECK(step == steps.size());
  }

  bool talks() const { return live->started() && heard > 100; }

  // Frozen, and all that was in the pipes has come out.
  bool freezes() {
    CHECK(live->freeze());
    CHECK(live->frozen());
    at = Clock::now();
    return true;
  }
  bool is_quiet_for(milliseconds time) {
    constexpr milliseconds settling{100};
    if (Clock::now() - at < settling) heard_when_frozen = heard;
    CHECK(heard == heard_when_frozen);
    return Clock::now() - at > settling + time;
  }
  bool thaws() {
    live->thaw();
    CHECK_FALSE(live->frozen());
    return true;
  }
  bool talks_again() const { return heard > heard_when_frozen + 100; }
  bool stops() {
    live->stop();
    return true;
  }

  Sandbox sandbox;
  std::size_t heard = 0;
  std::size_t heard_when_frozen = 0;
  Clock::time_point at;
  std::unique_ptr<Run> live;
};

void check_freeze_and_thaw(Talking& talking) {
  talking.drive({[&] { return talking.talks(); }, [&] { return talking.freezes(); },
                 [&] { return talking.is_quiet_for(milliseconds(200)); },
                 [&] { return talking.thaws(); }, [&] { return talking.talks_again(); },
                 [&] { return talking.stops(); }});
  const SandboxResult result = talking.live->take_result();
  CHECK(result.cause == Cause::killed_by_request);
  CHECK(result.signal == SIGTERM);
  CHECK_FALSE(result.survivors_unproved);
}

}  // namespace

TEST_CASE("a frozen run stands still with all of its processes, and goes on when it is thawed") {
  for (const char* profile : profiles) {
    INFO(profile);
    Talking talking(policy_of(profile));
    check_freeze_and_thaw(talking);
  }
}

TEST_CASE("a run with a leaf is frozen through it") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  Talking talking(policy_of("DEFAULT"), cgroup.path());
  check_freeze_and_thaw(talking);
}

TEST_CASE("a frozen run gets its SIGTERM and its grace when it is stopped") {
  for (const char* profile : profiles) {
    INFO(profile);
    Talking talking(policy_of(profile));
    talking.drive({[&] { return talking.talks(); }, [&] { return talking.freezes(); },
                   [&] { return talking.is_quiet_for(milliseconds(50)); },
                   [&] { return talking.stops(); }});
    const SandboxResult result = talking.live->take_result();
    CHECK(result.cause == Cause::killed_by_request);
    CHECK(result.signal == SIGTERM);
    CHECK_FALSE(result.survivors_unproved);
  }
}

TEST_CASE("a frozen run can be killed, with a leaf and without") {
  const TestCgroup cgroup;
  std::vector<std::string> bases = {no_cgroup_base};
  if (cgroup) bases.push_back(cgroup.path());
  for (const std::string& base : bases) {
    INFO(base);
    Talking talking(policy_of("DEFAULT"), base);
    talking.drive({[&] { return talking.talks(); }, [&] { return talking.freezes(); },
                   [&] {
                     talking.live->kill();
                     return true;
                   }});
    const SandboxResult result = talking.live->take_result();
    CHECK(result.cause == Cause::killed_by_request);
    CHECK(result.signal == SIGKILL);
    CHECK_FALSE(result.survivors_unproved);
  }
}

TEST_CASE("the wall clock of a frozen run goes on, and ends it") {
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.wall_clock = milliseconds(600);
  Talking talking(policy);
  talking.drive({[&] { return talking.talks(); }, [&] { return talking.freezes(); }});
  CHECK(talking.live->take_result().cause == Cause::wall_clock);
}

TEST_CASE("the end of a frozen run's agent, by somebody else's hand, is told like any other") {
  const TestCgroup cgroup;
  std::vector<std::string> bases = {no_cgroup_base};
  if (cgroup) bases.push_back(cgroup.path());
  for (const std::string& base : bases) {
    INFO(base);
    Talking talking(policy_of("DEFAULT"), base);
    talking.drive({[&] { return talking.talks(); }, [&] { return talking.freezes(); },
                   [&] { return ::kill(talking.live->marks().agent->pid, SIGKILL) == 0; }});
    const SandboxResult result = talking.live->take_result();
    CHECK(result.cause == Cause::signaled);
    CHECK(result.signal == SIGKILL);
  }
}

TEST_CASE("a process that had stopped itself stays so when its run is thawed") {
  const Sandbox sandbox = Sandbox::open({}).value();
  auto live = sandbox
                  .start(policy_of("DEFAULT"), {"sh", "-c", "kill -STOP $$; echo went on"}, "",
                         "r-0123456789abcdef", RunOptions{})
                  .value();
  int step = 0;
  drive_all({live.get()}, [&] {
    if (!live->started()) return;
    const auto stat = stat_of(live->marks().agent->pid);
    if (step == 0 && stat && stat->state == 'T') {
      CHECK(live->freeze());
      live->thaw();
      CHECK(stat_of(live->marks().agent->pid)->state == 'T');
      live->kill();
      step = 1;
    }
  });
  CHECK(step == 1);
  CHECK(live->take_result().stdout.empty());
}

TEST_CASE("a run whose program does not run yet, or any more, cannot be frozen") {
  const Sandbox sandbox = Sandbox::open({}).value();
  auto live =
      sandbox.start(policy_of("DEFAULT"), {"true"}, "", "r-0123456789abcdef", RunOptions{}).value();
  const auto early = live->freeze();
  REQUIRE_FALSE(early);
  CHECK(early.error().code == ErrorCode::invalid_request);
  drive_all({live.get()});
  CHECK_FALSE(live->freeze());
  live->thaw();
  CHECK(live->take_result().exit_code == 0);
}

TEST_CASE("the launchers of a run are known by its name in their command lines, and by marks") {
  const Sandbox sandbox = Sandbox::open({}).value();
  const std::string name = "r-fedcba9876543210";
  for (const char* profile : profiles) {
    INFO(profile);
    auto live = sandbox.start(policy_of(profile), {"sleep", "300"}, "", name, RunOptions{}).value();
    bool looked = false;
    drive_all({live.get()}, [&] {
      if (looked || !live->started()) return;
      looked = true;
      const std::vector<pid_t> named = processes_with(name);
      const RunMarks& marks = live->marks();
      REQUIRE(marks.launcher);
      REQUIRE(marks.agent);
      CHECK(marks.launcher->pid == live->launcher());
      CHECK(marks.agent->pid == live->receipt()->pid);
      CHECK(is_same_process(*marks.launcher));
      CHECK(is_same_process(*marks.agent));
      CHECK(std::find(named.begin(), named.end(), marks.launcher->pid) != named.end());
      // Guard, bubblewrap (whose arguments are also the init's) and init; or the init alone.
      CHECK(named.size() >= (policy_of(profile).use_bubblewrap ? 3 : 1));
      live->stop();
    });
    CHECK(looked);
    CHECK_FALSE(is_same_process(*live->marks().launcher));
    CHECK_FALSE(is_same_process(*live->marks().agent));
    live->take_result();
  }
}

TEST_CASE("a name that is not one plain word names no run") {
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("../leaf"), std::string(65, 'a')}) {
    const auto refused = sandbox.start(policy_of("DEFAULT"), {"true"}, "", name, RunOptions{});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_request);
  }
}
