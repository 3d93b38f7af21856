#include "kernel/run/run_machine.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

RunMachine started() {
  RunMachine machine;
  CHECK(machine.start() == Actions{Action::arm_setup_timer});
  return machine;
}

RunMachine checking() {
  RunMachine machine = started();
  CHECK(machine.on(AgentReady{}) == Actions{Action::check_receipt});
  return machine;
}

RunMachine running() {
  RunMachine machine = checking();
  CHECK(machine.on(ReceiptMatched{}) == Actions{Action::open_gate, Action::arm_wall_clock});
  CHECK(machine.state() == RunState::running);
  return machine;
}

RunMachine terminating() {
  RunMachine machine = running();
  CHECK(machine.on(TimePassed{}) == Actions{Action::send_term, Action::arm_grace_timer});
  CHECK(machine.state() == RunState::terminating);
  return machine;
}

RunMachine awaiting_report() {
  RunMachine machine = running();
  CHECK(machine.on(AgentGone{}) == Actions{Action::arm_report_timer});
  CHECK(machine.state() == RunState::awaiting_report);
  return machine;
}

RunMachine killing_agent() {
  RunMachine machine = terminating();
  CHECK(machine.on(TimePassed{}) == Actions{Action::kill_agent, Action::arm_obey_timer});
  CHECK(machine.state() == RunState::killing_agent);
  return machine;
}

RunMachine killing() {
  RunMachine machine = killing_agent();
  CHECK(machine.on(TimePassed{}) == Actions{Action::kill_everything, Action::arm_kill_timer});
  CHECK(machine.state() == RunState::killing);
  return machine;
}

const Exit clean_exit{.code = 0};
const Exit killed{.signal = SIGKILL};

}  // namespace

TEST_CASE("a run that ends by itself ends as exited, once the launcher and the output are done") {
  RunMachine machine = running();
  CHECK(machine.on(AgentStarted{}).empty());
  CHECK(machine.on(AgentExited{{.code = 3}}) == Actions{Action::arm_drain_timer});
  CHECK(machine.state() == RunState::draining);
  CHECK(machine.on(LauncherExited{.clean = true}).empty());
  CHECK(machine.on(OutputClosed{}) == Actions{Action::publish_outcome});
  CHECK(machine.state() == RunState::done);
  Ending expected;
  expected.cause = Cause::exited;
  expected.exit = Exit{.code = 3};
  CHECK(machine.ending() == expected);
}

TEST_CASE("the output may close before the agent exits, and after the launcher is gone") {
  RunMachine machine = running();
  CHECK(machine.on(OutputClosed{}).empty());
  CHECK(machine.state() == RunState::running);
  CHECK(machine.on(AgentExited{clean_exit}) == Actions{Action::arm_drain_timer});
  CHECK(machine.on(LauncherExited{.clean = true}) == Actions{Action::publish_outcome});
}

TEST_CASE("a signal that nobody here sent is signaled, with its name") {
  RunMachine machine = running();
  machine.on(AgentExited{{.signal = SIGSEGV}});
  CHECK(machine.ending().cause == Cause::signaled);
  CHECK(machine.ending().detail == "SIGSEGV");
}

TEST_CASE("a run that overstays is asked to stop, then killed, and ends as wall_clock") {
  RunMachine machine = killing_agent();
  machine.on(AgentExited{killed});
  machine.on(LauncherExited{.clean = true});
  CHECK(machine.on(OutputClosed{}) == Actions{Action::publish_outcome});
  CHECK(machine.ending().cause == Cause::wall_clock);
  CHECK(machine.ending().exit == killed);
  CHECK_FALSE(machine.ending().survivors_unproved);
}

TEST_CASE("a run that uses its grace ends as wall_clock with the exit code of its cleaning up") {
  RunMachine machine = terminating();
  CHECK(machine.on(AgentExited{{.code = 7}}) == Actions{Action::arm_drain_timer});
  CHECK(machine.ending().cause == Cause::wall_clock);
  CHECK(machine.ending().exit == Exit{.code = 7});
}

TEST_CASE("a stop has the grace that the deadline has, and its own cause") {
  for (const Cause cause : {Cause::killed_by_request, Cause::shutdown, Cause::output_limit}) {
    RunMachine machine = running();
    CHECK(machine.on(StopRequested{cause}) == Actions{Action::send_term, Action::arm_grace_timer});
    CHECK(machine.on(StopRequested{Cause::shutdown}).empty());  // asked already
    CHECK(machine.on(TimePassed{}) == Actions{Action::kill_agent, Action::arm_obey_timer});
    CHECK(machine.ending().cause == cause);
  }
}

TEST_CASE("a stop at once skips what is left of the grace and keeps the first cause") {
  RunMachine machine = running();
  CHECK(machine.on(StopRequested{.at_once = true}) ==
        Actions{Action::kill_agent, Action::arm_obey_timer});
  CHECK(machine.ending().cause == Cause::killed_by_request);

  machine = terminating();
  CHECK(machine.on(StopRequested{.cause = Cause::shutdown, .at_once = true}) ==
        Actions{Action::kill_agent, Action::arm_obey_timer});
  CHECK(machine.ending().cause == Cause::wall_clock);

  for (RunMachine already : {killing_agent(), killing()})
    CHECK(already.on(StopRequested{.at_once = true}).empty());
}

TEST_CASE("a stop before the program was started kills at once") {
  for (RunMachine machine : {started(), checking()}) {
    CHECK(machine.on(StopRequested{}) == Actions{Action::kill_everything, Action::arm_kill_timer});
    CHECK(machine.on(ReceiptMatched{}).empty());  // too late: the gate stays shut
    CHECK(machine.on(LauncherExited{.clean = true}) == Actions{Action::arm_drain_timer});
    CHECK(machine.on(OutputClosed{}) == Actions{Action::publish_outcome});
    CHECK(machine.ending().cause == Cause::killed_by_request);
  }
}

TEST_CASE("a receipt that differs from the plan kills the run before its program starts") {
  RunMachine machine = checking();
  CHECK(machine.on(ReceiptMismatch{"nproc is unlimited, planned 16"}) ==
        Actions{Action::kill_everything, Action::arm_kill_timer});
  CHECK(machine.ending().cause == Cause::cannot_isolate);
  CHECK(machine.ending().detail == "nproc is unlimited, planned 16");
}

TEST_CASE("a set-up that takes too long is killed as cannot_isolate") {
  for (RunMachine machine : {started(), checking()}) {
    CHECK(machine.on(TimePassed{}) == Actions{Action::kill_everything, Action::arm_kill_timer});
    CHECK(machine.ending().cause == Cause::cannot_isolate);
  }
}

TEST_CASE("a set-up step that fails is cannot_isolate, with the step") {
  RunMachine machine = started();
  CHECK(machine.on(SetupFailed{"setrlimit: Operation not permitted"}) ==
        Actions{Action::arm_drain_timer});
  machine.on(AgentExited{{.code = 1}});
  CHECK(machine.ending().cause == Cause::cannot_isolate);
  CHECK(machine.ending().detail == "setrlimit: Operation not permitted");
}

TEST_CASE(
    "a failed execve is cannot_execute with its errno, whatever the process then exits with") {
  RunMachine machine = running();
  CHECK(machine.on(ExecFailed{ENOENT, "execute the program"}) == Actions{Action::arm_drain_timer});
  machine.on(AgentExited{{.code = 127}});
  CHECK(machine.ending().cause == Cause::cannot_execute);
  CHECK(machine.ending().exec_error == ENOENT);
  CHECK(machine.ending().detail == "execute the program: No such file or directory");
}

TEST_CASE("a working directory that cannot be entered is cannot_execute before the gate") {
  RunMachine machine = started();
  machine.on(ExecFailed{EACCES, "enter the working directory"});
  CHECK(machine.ending().cause == Cause::cannot_execute);
  CHECK(machine.on(AgentReady{}).empty());
}

TEST_CASE("an exec error after a stop does not change the cause") {
  RunMachine machine = running();
  machine.on(StopRequested{});
  machine.on(ExecFailed{ENOENT, "execute the program"});
  CHECK(machine.ending().cause == Cause::killed_by_request);
  CHECK(machine.ending().exec_error == 0);
}

TEST_CASE("an agent that ends before the gate was opened never ran its program") {
  for (RunMachine machine : {started(), checking()}) {
    machine.on(AgentExited{killed});
    CHECK(machine.ending().cause == Cause::cannot_isolate);
  }
}

TEST_CASE("bubblewrap that ends during set-up is cannot_isolate, and later means nothing") {
  RunMachine machine = started();
  CHECK(machine.on(WrapperExited{"bubblewrap exited with 1"}) == Actions{Action::arm_drain_timer});
  CHECK(machine.ending().cause == Cause::cannot_isolate);
  CHECK(machine.ending().detail == "bubblewrap exited with 1");
  RunMachine later = running();
  CHECK(later.on(WrapperExited{"bubblewrap exited with 0"}).empty());
  CHECK(later.state() == RunState::running);
}

TEST_CASE("a launcher that ends during set-up is cannot_isolate") {
  for (RunMachine machine : {started(), checking()}) {
    CHECK(machine.on(LauncherExited{.clean = true}) == Actions{Action::arm_drain_timer});
    CHECK(machine.ending().cause == Cause::cannot_isolate);
    CHECK_FALSE(machine.ending().survivors_unproved);
  }
}

TEST_CASE("a launcher that was killed is tampering, its orphans are hunted, nothing is proved") {
  RunMachine machine = running();
  CHECK(machine.on(LauncherExited{.clean = false}) ==
        Actions{Action::kill_launcher, Action::arm_drain_timer});
  CHECK(machine.on(OutputClosed{}) == Actions{Action::publish_outcome});
  CHECK(machine.ending().cause == Cause::tampered);
  CHECK(machine.ending().survivors_unproved);
}

TEST_CASE("a launcher that ends cleanly without a report is tampering all the same") {
  RunMachine machine = running();
  machine.on(LauncherExited{.clean = true});
  CHECK(machine.ending().cause == Cause::tampered);
  CHECK_FALSE(machine.ending().survivors_unproved);
}

TEST_CASE("an agent that is seen to be gone before it is reported ends as it is reported") {
  RunMachine machine = awaiting_report();
  CHECK(machine.on(AgentExited{{.code = 3}}) == Actions{Action::arm_drain_timer});
  CHECK(machine.ending().cause == Cause::exited);
  CHECK(machine.on(AgentGone{}).empty());
}

TEST_CASE("an agent that is gone while its init is kept from reporting it has tampered") {
  RunMachine machine = awaiting_report();
  CHECK(machine.on(TimePassed{.init_stopped = true}) ==
        Actions{Action::kill_everything, Action::arm_kill_timer});
  CHECK(machine.ending().cause == Cause::tampered);
  // Continued for the kill, the init says it after all: too late to be believed.
  machine.on(AgentExited{clean_exit});
  CHECK(machine.on(LauncherExited{.clean = true}).empty());
  CHECK(machine.on(OutputClosed{}) == Actions{Action::publish_outcome});
  CHECK(machine.ending().cause == Cause::tampered);
  CHECK_FALSE(machine.ending().survivors_unproved);
}

TEST_CASE("an init that is only slow has a second, longer time for its report") {
  RunMachine machine = awaiting_report();
  CHECK(machine.on(TimePassed{}) == Actions{Action::arm_late_report_timer});
  RunMachine stopped = machine;
  RunMachine silent = machine;
  CHECK(machine.on(AgentExited{clean_exit}) == Actions{Action::arm_drain_timer});
  CHECK(machine.ending().cause == Cause::exited);
  CHECK(stopped.on(TimePassed{.init_stopped = true}) ==
        Actions{Action::kill_everything, Action::arm_kill_timer});
  CHECK(stopped.ending().cause == Cause::tampered);
  CHECK(silent.on(TimePassed{}) == Actions{Action::kill_everything, Action::arm_kill_timer});
  CHECK(silent.ending().cause == Cause::internal);  // the host's fault, not the agent's
  CHECK(silent.ending().detail ==
        "the agent has ended and paddock-launch did not report it in time");
}

TEST_CASE("an agent that is gone in its grace ends as wall_clock, reported or not") {
  RunMachine machine = terminating();
  CHECK(machine.on(AgentGone{}) == Actions{Action::arm_report_timer});
  RunMachine silent = machine;
  CHECK(machine.on(AgentExited{{.code = 7}}) == Actions{Action::arm_drain_timer});
  CHECK(machine.ending().cause == Cause::wall_clock);
  CHECK(silent.on(TimePassed{.init_stopped = true}) ==
        Actions{Action::kill_everything, Action::arm_kill_timer});
  CHECK(silent.ending().cause == Cause::wall_clock);
}

TEST_CASE("a stop finds nothing to stop in an agent that is gone; a kill ends the waiting") {
  RunMachine machine = awaiting_report();
  CHECK(machine.on(StopRequested{}).empty());
  RunMachine killed_at_once = machine;
  machine.on(AgentExited{{.code = 3}});
  CHECK(machine.ending().cause == Cause::exited);
  CHECK(killed_at_once.on(StopRequested{.at_once = true}) ==
        Actions{Action::kill_everything, Action::arm_kill_timer});
  CHECK(killed_at_once.ending().cause == Cause::killed_by_request);
}

TEST_CASE(
    "the end of the agent's process means nothing before the gate and after the order to kill") {
  for (RunMachine machine : {started(), checking(), killing_agent(), killing()}) {
    const RunState before = machine.state();
    CHECK(machine.on(AgentGone{}).empty());
    CHECK(machine.state() == before);
  }
}

TEST_CASE("a message that nobody of the launch chain sent is tampering, and ends the run") {
  for (RunMachine machine : {started(), checking(), running(), awaiting_report()}) {
    CHECK(machine.on(Forged{"forged"}) == Actions{Action::kill_everything, Action::arm_kill_timer});
    CHECK(machine.ending().cause == Cause::tampered);
    CHECK(machine.ending().detail == "forged");
  }
  for (RunMachine machine : {terminating(), killing_agent()}) {
    CHECK(machine.on(Forged{"forged"}) == Actions{Action::kill_everything, Action::arm_kill_timer});
    CHECK(machine.ending().cause == Cause::wall_clock);  // the first cause
  }
  RunMachine draining = running();
  draining.on(AgentExited{clean_exit});
  CHECK(draining.on(Forged{"forged"}).empty());
  CHECK(draining.ending().cause == Cause::exited);
}

TEST_CASE("a launcher that does not obey is killed by us, and nothing is proved") {
  RunMachine machine = killing();
  CHECK(machine.on(TimePassed{}) == Actions{Action::kill_launcher, Action::arm_drain_timer});
  RunMachine never_ends = machine;
  CHECK(machine.on(LauncherExited{.clean = false}).empty());
  CHECK(machine.on(OutputClosed{}) == Actions{Action::publish_outcome});
  CHECK(machine.ending().survivors_unproved);
  CHECK(machine.ending().cause == Cause::wall_clock);

  CHECK(never_ends.on(TimePassed{}) == Actions{Action::publish_outcome});
  CHECK(never_ends.ending().survivors_unproved);
  CHECK(never_ends.ending().output_held_open);
}

TEST_CASE("a pipe that somebody holds open delays the result by the drain time only") {
  RunMachine machine = running();
  machine.on(AgentExited{clean_exit});
  machine.on(LauncherExited{.clean = true});
  CHECK(machine.on(TimePassed{}) == Actions{Action::publish_outcome});
  CHECK(machine.ending().output_held_open);
  CHECK_FALSE(machine.ending().survivors_unproved);
}

TEST_CASE("a launcher that does not end after its agent is told to kill, then killed") {
  RunMachine machine = running();
  machine.on(AgentExited{clean_exit});
  CHECK(machine.on(TimePassed{}) == Actions{Action::kill_everything, Action::arm_kill_timer});
  CHECK(machine.on(TimePassed{}) == Actions{Action::kill_launcher, Action::arm_drain_timer});
  CHECK(machine.on(TimePassed{}) == Actions{Action::publish_outcome});
  CHECK(machine.ending().cause == Cause::exited);
}

namespace {

using Event = std::function<Actions(RunMachine&)>;

template <class T>
Event event(T value) {
  return [value](RunMachine& machine) { return machine.on(value); };
}

bool has(const Actions& actions, Action action) {
  return std::find(actions.begin(), actions.end(), action) != actions.end();
}

// One walk: events in any order, then time alone, until the machine is done.
class Walk {
 public:
  explicit Walk(unsigned seed) : random_(seed) { note(machine_.start()); }

  void go() {
    const std::size_t steps = random_() % 30;
    for (std::size_t i = 0; i < steps; ++i) step();
    for (int timers = 0; machine_.state() != RunState::done; ++timers) {
      REQUIRE(timers < 8);
      let_time_pass();
    }
    CHECK(published_ == 1);
    const Ending ending = machine_.ending();
    for (int i = 0; i < 5; ++i) step();
    CHECK(published_ == 1);
    CHECK(machine_.ending() == ending);
  }

 private:
  void step() {
    static const std::vector<Event> events = {
        event(AgentReady{}),
        event(AgentReady{}),
        event(ReceiptMatched{}),
        event(ReceiptMatched{}),
        event(ReceiptMismatch{"difference"}),
        event(AgentStarted{}),
        event(ExecFailed{ENOENT, "execute the program"}),
        event(SetupFailed{"setsid"}),
        event(AgentExited{clean_exit}),
        event(AgentExited{killed}),
        event(WrapperExited{"bubblewrap exited with 1"}),
        event(LauncherExited{.clean = true}),
        event(LauncherExited{.clean = false}),
        event(OutputClosed{}),
        event(StopRequested{Cause::killed_by_request}),
        event(StopRequested{Cause::shutdown}),
        event(StopRequested{.cause = Cause::output_limit, .detail = "more output"}),
        event(StopRequested{.cause = Cause::shutdown, .at_once = true}),
        event(AgentGone{}),
        event(AgentGone{}),
        event(Forged{"forged"}),
    };
    const std::size_t index = random_() % (events.size() + 1);
    if (index == events.size()) return let_time_pass();
    constexpr std::size_t matched[] = {2, 3};
    constexpr std::size_t launcher_exits[] = {11, 12};
    const bool is_match = index == matched[0] || index == matched[1];
    if (index == launcher_exits[0] || index == launcher_exits[1]) {
      if (launcher_gone_) return;  // it dies once
      launcher_gone_ = true;
    }
    feed(events[index], is_match);
  }

  void let_time_pass() {
    if (!std::exchange(has_timer_, false)) return;
    feed(event(TimePassed{.init_stopped = random_() % 2 == 0}));
  }

  void feed(const Event& next, bool is_match = false) {
    const RunState before = machine_.state();
    const Ending ending = machine_.ending();
    const bool settled = ending.cause != Cause::internal;
    const Actions actions = next(machine_);
    note(actions);

    // The first cause wins, with its detail.
    if (settled) {
      REQUIRE(machine_.ending().cause == ending.cause);
      REQUIRE(machine_.ending().detail == ending.detail);
      REQUIRE(machine_.ending().exec_error == ending.exec_error);
    }
    // The gate opens for a matching receipt that was asked for, and never otherwise.
    if (has(actions, Action::open_gate)) {
      REQUIRE(is_match);
      REQUIRE(before == RunState::checking);
      REQUIRE(receipt_asked_for_);
      REQUIRE(++gate_opened_ == 1);
    }
    // Giving up comes after the order to kill, and after the launcher was killed by ourselves.
    if (has(actions, Action::publish_outcome) && !launcher_gone_) REQUIRE(launcher_killed_);
    if (has(actions, Action::kill_launcher) && before != RunState::done)
      REQUIRE((kill_ordered_ || launcher_gone_));
    kill_ordered_ = kill_ordered_ || has(actions, Action::kill_everything);
    launcher_killed_ = launcher_killed_ || has(actions, Action::kill_launcher);
    receipt_asked_for_ = receipt_asked_for_ || has(actions, Action::check_receipt);
    // No state waits without a timer.
    REQUIRE((has_timer_ || machine_.state() == RunState::done));
    // What is not proved is said.
    if (machine_.state() == RunState::done && !launcher_gone_)
      REQUIRE(machine_.ending().survivors_unproved);
  }

  void note(const Actions& actions) {
    published_ +=
        static_cast<int>(std::count(actions.begin(), actions.end(), Action::publish_outcome));
    for (const Action action :
         {Action::arm_setup_timer, Action::arm_wall_clock, Action::arm_grace_timer,
          Action::arm_report_timer, Action::arm_late_report_timer, Action::arm_obey_timer,
          Action::arm_kill_timer, Action::arm_drain_timer})
      has_timer_ = has_timer_ || has(actions, action);
  }

  std::mt19937 random_;
  RunMachine machine_;
  int published_ = 0;
  int gate_opened_ = 0;
  bool has_timer_ = false;
  bool kill_ordered_ = false;
  bool launcher_killed_ = false;
  bool launcher_gone_ = false;
  bool receipt_asked_for_ = false;
};

}  // namespace

TEST_CASE("whatever happens in whatever order, a run ends with exactly one outcome") {
  for (unsigned seed = 1; seed <= 20'000; ++seed) {
    INFO("seed " << seed);
    Walk(seed).go();
  }
}
