#include "supervisor/agents/agent_machine.hpp"

#include <algorithm>
#include <random>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::AgentProtocol;
using kernel::Cause;
using kernel::RestartPolicy;
using kernel::RestartRules;
using namespace std::chrono_literals;

namespace {

constexpr RestartRules plain_rules{.max_restarts = 3};

AgentMachine plain(RestartRules rules = plain_rules) {
  return AgentMachine(AgentProtocol::plain, rules);
}
AgentMachine jsonl(RestartRules rules = plain_rules) {
  return AgentMachine(AgentProtocol::jsonl, rules);
}

bool has(const Actions& actions, Action action) {
  return std::find(actions.begin(), actions.end(), action) != actions.end();
}

RunEnded exited(int code, std::chrono::milliseconds lived = 10ms) {
  return {.cause = Cause::exited, .exit_code = code, .detail = "", .lived = lived, .random = 0.5};
}
RunEnded ended(Cause cause) {
  return {.cause = cause, .exit_code = -9, .detail = "", .lived = 10ms, .random = 0.5};
}

void bring_up(AgentMachine& machine, AgentProtocol protocol = AgentProtocol::plain) {
  CHECK(has(machine.on(StartAsked{}), Action::start_run));
  machine.on(RunStarted{});
  if (protocol == AgentProtocol::jsonl) machine.on(ReadyReceived{});
  REQUIRE(machine.state() == AgentState::running);
}

}  // namespace

TEST_CASE("a plain agent runs as soon as its program does, a jsonl agent when it says ready") {
  AgentMachine one = plain();
  CHECK(one.on(StartAsked{}) == Actions{Action::disarm_timer, Action::start_run});
  CHECK(one.state() == AgentState::starting);
  CHECK(one.on(RunStarted{}) == Actions{Action::disarm_timer, Action::tell_ready});
  CHECK(one.state() == AgentState::running);

  AgentMachine other = jsonl();
  other.on(StartAsked{});
  CHECK(other.on(ReadyReceived{}).empty());  // nobody has asked yet
  CHECK(other.on(RunStarted{}) == Actions{Action::send_init, Action::arm_handshake_timer});
  CHECK(other.state() == AgentState::starting);
  CHECK(other.on(ReadyReceived{}) == Actions{Action::disarm_timer, Action::tell_ready});
  CHECK(other.state() == AgentState::running);
  CHECK(other.on(ReadyReceived{}).empty());
}

TEST_CASE("without ready in time the run is stopped, and the agent has failed for good") {
  AgentMachine machine = jsonl({.policy = RestartPolicy::always});
  machine.on(StartAsked{});
  machine.on(RunStarted{});
  CHECK(has(machine.on(TimePassed{}), Action::stop_run));
  CHECK(has(machine.on(ended(Cause::killed_by_request)), Action::tell_failed));
  CHECK(machine.state() == AgentState::failed);
  CHECK(machine.reason() == "no 'ready' within 5 s of 'init'");
}

TEST_CASE("each policy restarts after the ends that it names") {
  struct Row {
    RestartPolicy policy;
    RunEnded end;
    AgentState then;
  };
  const std::vector<Row> rows = {
      {RestartPolicy::always, exited(0), AgentState::backing_off},
      {RestartPolicy::always, exited(1), AgentState::backing_off},
      {RestartPolicy::always, ended(Cause::signaled), AgentState::backing_off},
      {RestartPolicy::on_failure, exited(0), AgentState::stopped},
      {RestartPolicy::on_failure, exited(1), AgentState::backing_off},
      {RestartPolicy::on_failure, ended(Cause::wall_clock), AgentState::backing_off},
      {RestartPolicy::on_failure, ended(Cause::memory_limit), AgentState::backing_off},
      {RestartPolicy::on_failure, ended(Cause::cannot_execute), AgentState::backing_off},
      {RestartPolicy::on_failure, ended(Cause::killed_by_request), AgentState::backing_off},
      {RestartPolicy::never, exited(0), AgentState::stopped},
      {RestartPolicy::never, exited(1), AgentState::failed},
      {RestartPolicy::always, exited(3), AgentState::failed},
      {RestartPolicy::always, ended(Cause::cannot_isolate), AgentState::failed},
      {RestartPolicy::always, ended(Cause::shutdown), AgentState::stopped},
  };
  for (const Row& row : rows) {
    INFO(static_cast<int>(row.policy) << " " << name_of(row.end.cause) << " " << row.end.exit_code);
    AgentMachine machine = plain({.policy = row.policy});
    bring_up(machine);
    machine.on(row.end);
    CHECK(name_of(machine.state()) == name_of(row.then));
  }
}

TEST_CASE("under jsonl the exit message decides, and an end without one is a crash, also with 0") {
  struct Row {
    std::optional<ExitKind> said;
    RunEnded end;
    AgentState then;
  };
  const std::vector<Row> rows = {
      {std::nullopt, exited(0), AgentState::backing_off},
      {ExitKind::completed, exited(0), AgentState::stopped},
      {ExitKind::cancelled, exited(1), AgentState::stopped},
      {ExitKind::failed, exited(0), AgentState::backing_off},
      {ExitKind::crashed, exited(0), AgentState::backing_off},
      {ExitKind::completed, exited(3), AgentState::failed},
      {ExitKind::completed, ended(Cause::memory_limit), AgentState::backing_off},
      {ExitKind::completed, exited(1), AgentState::failed},
      {ExitKind::completed, ended(Cause::signaled), AgentState::failed},
  };
  for (const Row& row : rows) {
    AgentMachine machine = jsonl();
    bring_up(machine, AgentProtocol::jsonl);
    if (row.said) machine.on(ExitReceived{*row.said});
    if (row.said) machine.on(ExitReceived{ExitKind::completed});  // the first one counts
    machine.on(row.end);
    CHECK(name_of(machine.state()) == name_of(row.then));
  }
  AgentMachine machine = jsonl();
  bring_up(machine, AgentProtocol::jsonl);
  machine.on(exited(0));
  CHECK(machine.reason() == "exited with 0 without an 'exit' message");
}

TEST_CASE("what says completed and then exits with another status has failed, and says both") {
  AgentMachine machine = jsonl();
  bring_up(machine, AgentProtocol::jsonl);
  machine.on(ExitReceived{ExitKind::completed});
  machine.on(exited(7));
  CHECK(machine.state() == AgentState::failed);
  CHECK(machine.reason() == "exited with 7, although it said 'completed'");
  CHECK_FALSE(machine.succeeded());

  AgentMachine again = jsonl({.policy = RestartPolicy::always});
  bring_up(again, AgentProtocol::jsonl);
  again.on(ExitReceived{ExitKind::completed});
  again.on(exited(7));
  CHECK(again.state() == AgentState::backing_off);
  CHECK(again.reason() == "exited with 7, although it said 'completed'");
}

TEST_CASE("what said exit has its stop time to end by itself, and is stopped then") {
  struct Row {
    RestartPolicy policy;
    ExitKind said;
    AgentState then;
  };
  const std::vector<Row> rows = {
      {RestartPolicy::on_failure, ExitKind::completed, AgentState::failed},
      {RestartPolicy::on_failure, ExitKind::cancelled, AgentState::failed},
      {RestartPolicy::on_failure, ExitKind::failed, AgentState::backing_off},
      {RestartPolicy::never, ExitKind::failed, AgentState::failed},
      {RestartPolicy::always, ExitKind::completed, AgentState::backing_off},
  };
  for (const Row& row : rows) {
    INFO(static_cast<int>(row.policy) << " " << name_of(row.said));
    AgentMachine machine = jsonl({.policy = row.policy, .stop = 1500ms});
    bring_up(machine, AgentProtocol::jsonl);
    CHECK(machine.on(TimePassed{}).empty());
    CHECK(machine.on(ExitReceived{row.said}) == Actions{Action::arm_exit_timer});
    CHECK(machine.on(ExitReceived{row.said}).empty());
    CHECK(machine.on(TimePassed{}) == Actions{Action::disarm_timer, Action::stop_run});
    CHECK(machine.state() == AgentState::stopping);
    const std::string why =
        "said '" + std::string(name_of(row.said)) + "' and did not end within 1.5 s";
    CHECK(machine.stop_reason() == why);
    RunEnded end = ended(Cause::killed_by_request);
    end.detail = why;
    machine.on(end);
    CHECK(name_of(machine.state()) == name_of(row.then));
    CHECK(machine.reason() == "killed_by_request: " + why);
  }
}

TEST_CASE("who stops an agent that did not end after its exit leaves it stopped") {
  AgentMachine machine = jsonl();
  bring_up(machine, AgentProtocol::jsonl);
  machine.on(ExitReceived{ExitKind::completed});
  machine.on(TimePassed{});
  CHECK(machine.on(StopAsked{}).empty());
  machine.on(ended(Cause::killed_by_request));
  CHECK(machine.state() == AgentState::stopped);
}

TEST_CASE("the time to end after exit does not pass while an agent is frozen or not ready") {
  AgentMachine machine = jsonl();
  machine.on(StartAsked{});
  machine.on(RunStarted{});
  CHECK(machine.on(ExitReceived{ExitKind::completed}).empty());
  CHECK(machine.on(ReadyReceived{}) ==
        Actions{Action::disarm_timer, Action::tell_ready, Action::arm_exit_timer});
  CHECK(machine.on(BudgetSpent{}) ==
        Actions{Action::disarm_timer, Action::freeze_run, Action::tell_frozen});
  CHECK(machine.on(BudgetGranted{}) ==
        Actions{Action::thaw_run, Action::tell_thawed, Action::arm_exit_timer});
  machine.on(exited(0));
  CHECK(machine.state() == AgentState::stopped);
}

TEST_CASE("the wait doubles up to its maximum, and jitter moves it by half of itself at most") {
  const RestartRules rules{.backoff = 1s, .backoff_max = 60s, .jitter = 0.5};
  CHECK(backoff_before(rules, 1, 0.5) == 1s);
  CHECK(backoff_before(rules, 2, 0.5) == 2s);
  CHECK(backoff_before(rules, 6, 0.5) == 32s);
  CHECK(backoff_before(rules, 7, 0.5) == 60s);
  CHECK(backoff_before(rules, 1'000'000, 0.5) == 60s);
  CHECK(backoff_before(rules, 1, 0) == 750ms);
  CHECK(backoff_before(rules, 1, 0.999999) == 1250ms);
  CHECK(backoff_before(rules, 7, 0) == 45s);
  CHECK(backoff_before({.backoff = 1s, .backoff_max = 60s, .jitter = 0}, 1, 0) == 1s);
  CHECK(backoff_before({.backoff = 1s, .backoff_max = 60s, .jitter = 1}, 1, 0) == 500ms);
}

TEST_CASE(
    "a crash loop gives up after max_restarts in a row, and a long life starts the count again") {
  AgentMachine machine = plain();
  bring_up(machine);
  for (std::uint64_t restart = 1; restart <= 3; ++restart) {
    CHECK(has(machine.on(exited(1)), Action::tell_restarting));
    CHECK(machine.restarts() == restart);
    CHECK(machine.backoff() == 1s * (1 << (restart - 1)));
    CHECK(has(machine.on(TimePassed{}), Action::start_run));
    machine.on(RunStarted{});
  }
  SECTION("gives up") {
    CHECK(has(machine.on(exited(1)), Action::tell_failed));
    CHECK(machine.state() == AgentState::failed);
    CHECK(machine.reason() == "gave up after 3 restarts in a row; the last end: exited with 1");
    CHECK(machine.on(TimePassed{}).empty());
    bring_up(machine);  // somebody starts it again, with a fresh count
    CHECK(machine.restarts() == 0);
  }
  SECTION("lived long enough") {
    machine.on(exited(1, 60s));
    CHECK(machine.state() == AgentState::backing_off);
    CHECK(machine.restarts() == 1);
    CHECK(machine.backoff() == 1s);
  }
}

TEST_CASE(
    "stop is TERM at once for plain; for jsonl a message first, and TERM when it is not obeyed") {
  AgentMachine one = plain();
  bring_up(one);
  CHECK(one.on(StopAsked{}) == Actions{Action::disarm_timer, Action::stop_run});
  CHECK(one.on(TimePassed{}).empty());
  CHECK(has(one.on(ended(Cause::killed_by_request)), Action::tell_stopped));
  CHECK(one.state() == AgentState::stopped);

  AgentMachine other = jsonl();
  bring_up(other, AgentProtocol::jsonl);
  CHECK(other.on(StopAsked{}) == Actions{Action::send_stop, Action::arm_stop_timer});
  CHECK(other.on(StopAsked{}).empty());
  CHECK(other.on(TimePassed{}) == Actions{Action::stop_run});
  CHECK(other.on(TimePassed{}).empty());
  other.on(exited(1));
  CHECK(other.state() == AgentState::stopped);
}

TEST_CASE("start and restart while it stops take effect when its run has ended") {
  AgentMachine machine = plain();
  bring_up(machine);
  machine.on(StopAsked{});
  SECTION("start") {
    CHECK(machine.on(StartAsked{}).empty());
  }
  SECTION("restart") {
    CHECK(machine.on(RestartAsked{}).empty());
  }
  CHECK(has(machine.on(ended(Cause::killed_by_request)), Action::start_run));
  CHECK(machine.state() == AgentState::starting);
}

TEST_CASE("stop after start while it stops leaves it stopped") {
  AgentMachine machine = plain();
  bring_up(machine);
  machine.on(RestartAsked{});
  machine.on(StopAsked{});
  machine.on(ended(Cause::killed_by_request));
  CHECK(machine.state() == AgentState::stopped);
}

TEST_CASE("what was refused is tried again without being counted, unless that would not help") {
  AgentMachine machine = plain({.max_restarts = 1});
  machine.on(StartAsked{});
  for (int i = 0; i < 20; ++i) {
    machine.on(RunRefused{.reason = "the queue is full"});
    CHECK(machine.state() == AgentState::backing_off);
    CHECK(machine.restarts() == 0);
    machine.on(TimePassed{});
  }
  machine.on(RunRefused{.reason = "no bubblewrap", .for_good = true});
  CHECK(machine.state() == AgentState::failed);
  CHECK(machine.reason() == "no bubblewrap");
}

TEST_CASE("a spent budget freezes what runs, also what starts later, until more is granted") {
  AgentMachine machine = jsonl();
  bring_up(machine, AgentProtocol::jsonl);
  CHECK(machine.on(BudgetSpent{}) ==
        Actions{Action::disarm_timer, Action::freeze_run, Action::tell_frozen});
  CHECK(machine.state() == AgentState::frozen);
  CHECK(machine.on(BudgetSpent{}).empty());
  machine.on(ended(Cause::signaled));  // somebody killed it
  machine.on(TimePassed{});
  machine.on(RunStarted{});
  CHECK(machine.state() == AgentState::starting);
  CHECK(has(machine.on(ReadyReceived{}), Action::freeze_run));
  CHECK(machine.on(BudgetGranted{}) == Actions{Action::thaw_run, Action::tell_thawed});
  CHECK(machine.state() == AgentState::running);
}

TEST_CASE("a frozen agent is stopped without a message that it could not read") {
  AgentMachine machine = jsonl();
  bring_up(machine, AgentProtocol::jsonl);
  machine.on(BudgetSpent{});
  CHECK(machine.on(StopAsked{}) == Actions{Action::disarm_timer, Action::stop_run});
}

TEST_CASE("what cannot be frozen is stopped, and has failed") {
  AgentMachine machine = plain();
  bring_up(machine);
  machine.on(BudgetSpent{});
  CHECK(has(machine.on(FreezeFailed{"no cgroup"}), Action::stop_run));
  machine.on(ended(Cause::killed_by_request));
  CHECK(machine.state() == AgentState::failed);
  CHECK(machine.reason() == "its budget is spent, and it cannot be frozen: no cgroup");
}

TEST_CASE("when the daemon drains everything ends and nothing starts") {
  AgentMachine running = plain({.policy = RestartPolicy::always});
  bring_up(running);
  CHECK(has(running.on(DrainBegun{}), Action::stop_run));
  running.on(exited(1));
  CHECK(running.state() == AgentState::stopped);
  CHECK(running.on(StartAsked{}).empty());
  CHECK(running.on(RestartAsked{}).empty());

  AgentMachine waiting = plain();
  bring_up(waiting);
  waiting.on(exited(1));
  waiting.on(DrainBegun{});
  CHECK(waiting.state() == AgentState::stopped);
}

// Goal: whatever happens in whatever order, an agent has at most one run, no state waits without a
// timer, what was stopped stays so, and what failed for good stays so until somebody asks.
// Method: a model of the driver that only delivers what can come, driven at random.
namespace {

class RandomLife {
 public:
  explicit RandomLife(unsigned seed)
      : random_(seed),
        protocol_(pick(2) == 0 ? AgentProtocol::plain : AgentProtocol::jsonl),
        rules_{.policy = static_cast<RestartPolicy>(pick(3)),
               .max_restarts = 1 + pick(3),
               .backoff = 1s,
               .backoff_max = 8s,
               .jitter = 0.5},
        machine_(protocol_, rules_) {}

  void live(int events) {
    for (int i = 0; i < events; ++i) {
      one_event();
      check();
    }
    // And in the end: stop, and whatever still runs ends.
    perform(machine_.on(StopAsked{}));
    wanted_ = false;
    check();
    for (int i = 0; i < 4 && run_; ++i) {
      if (timer_) pass_time();
      if (run_) end_run(ended(Cause::killed_by_request));
    }
    CHECK_FALSE(run_);
    CHECK_FALSE(timer_);
    CHECK(name_of(machine_.state()) == name_of(AgentState::stopped));
  }

 private:
  std::uint64_t pick(std::uint64_t below) {
    return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(random_);
  }
  double fraction() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  void one_event() {
    switch (pick(14)) {
      case 0:
        wanted_ = !draining_;
        return perform(machine_.on(StartAsked{}));
      case 1:
        wanted_ = false;
        return perform(machine_.on(StopAsked{}));
      case 2:
        wanted_ = !draining_;
        return perform(machine_.on(RestartAsked{}));
      case 3:
      case 4:
      case 5:
        if (run_ && !program_runs_) {
          program_runs_ = true;
          perform(machine_.on(RunStarted{}));
        }
        return;
      case 6:
        if (run_ && !program_runs_) {
          run_ = false;
          const bool for_good = pick(4) == 0;
          return perform(machine_.on(
              RunRefused{.reason = "refused", .for_good = for_good, .random = fraction()}));
        }
        return;
      case 7:
      case 8:
        if (run_ && program_runs_) perform(machine_.on(ReadyReceived{}));
        return;
      case 9:
        if (run_ && program_runs_) {
          said_exit_ = true;
          perform(machine_.on(ExitReceived{static_cast<ExitKind>(pick(4))}));
        }
        return;
      case 10:
        if (run_) end_run(random_end());
        return;
      case 11:
        if (timer_) pass_time();
        return;
      case 12:
        return pick(2) == 0 ? perform(machine_.on(BudgetSpent{}))
                            : perform(machine_.on(BudgetGranted{}));
      case 13:
        if (pick(40) == 0) {
          draining_ = true;
          wanted_ = false;
          perform(machine_.on(DrainBegun{}));
        }
        return;
    }
  }

  RunEnded random_end() {
    const Cause cause =
        pick(2) == 0 ? Cause::exited : kernel::all_causes[pick(kernel::all_causes.size())];
    return {.cause = cause,
            .exit_code = static_cast<int>(pick(5)),
            .detail = "",
            .lived = pick(3) == 0 ? 90s : 1s,
            .random = fraction()};
  }

  void end_run(const RunEnded& end) {
    run_ = false;
    frozen_ = false;
    perform(machine_.on(end));
  }

  void pass_time() {
    timer_ = false;
    perform(machine_.on(TimePassed{}));
  }

  void perform(const Actions& actions) {
    for (const Action action : actions) {
      switch (action) {
        case Action::start_run:
          CHECK_FALSE(run_);
          CHECK(wanted_);
          CHECK_FALSE(draining_);
          run_ = true;
          program_runs_ = false;
          stop_sent_ = false;
          said_exit_ = false;
          break;
        case Action::send_init:
        case Action::send_stop:
          CHECK(protocol_ == AgentProtocol::jsonl);
          CHECK(run_);
          break;
        case Action::stop_run:
          CHECK(run_);
          CHECK_FALSE(stop_sent_);
          stop_sent_ = true;
          break;
        case Action::freeze_run:
          CHECK(run_);
          CHECK_FALSE(frozen_);
          frozen_ = true;
          break;
        case Action::thaw_run:
          CHECK(frozen_);
          frozen_ = false;
          break;
        case Action::arm_handshake_timer:
        case Action::arm_exit_timer:
        case Action::arm_stop_timer:
          CHECK(run_);
          timer_ = true;
          break;
        case Action::arm_backoff_timer:
          CHECK_FALSE(run_);
          CHECK(machine_.backoff() >= 750ms);
          CHECK(machine_.backoff() <= 10s);
          timer_ = true;
          break;
        case Action::disarm_timer:
          timer_ = false;
          break;
        case Action::tell_failed:
          CHECK_FALSE(machine_.reason().empty());
          break;
        case Action::tell_ready:
        case Action::tell_exited:
        case Action::tell_restarting:
        case Action::tell_stopped:
        case Action::tell_frozen:
        case Action::tell_thawed:
          break;
      }
    }
  }

  void check() {
    const AgentState state = machine_.state();
    INFO(name_of(state));
    const bool with_run = state == AgentState::starting || state == AgentState::running ||
                          state == AgentState::stopping || state == AgentState::frozen;
    CHECK(with_run == run_);
    if (state == AgentState::starting && program_runs_) CHECK(timer_);
    if (state == AgentState::backing_off) CHECK(timer_);
    if (state == AgentState::stopping) CHECK((timer_ || stop_sent_));
    if (state == AgentState::running) CHECK(timer_ == said_exit_);
    if (state == AgentState::frozen || state == AgentState::stopped || state == AgentState::failed)
      CHECK_FALSE(timer_);
    CHECK((state == AgentState::frozen) == (frozen_ && !stop_sent_ && run_));
    CHECK(machine_.restarts() <= rules_.max_restarts);
    if (draining_)
      CHECK((state == AgentState::stopped || state == AgentState::stopping ||
             state == AgentState::failed));
  }

  std::mt19937_64 random_;
  AgentProtocol protocol_;
  RestartRules rules_;
  AgentMachine machine_;
  bool wanted_ = false;
  bool draining_ = false;
  bool run_ = false;
  bool program_runs_ = false;
  bool stop_sent_ = false;
  bool said_exit_ = false;
  bool frozen_ = false;
  bool timer_ = false;
};

}  // namespace

TEST_CASE("no order of events breaks what an agent is promised") {
  for (unsigned seed = 0; seed < 5'000; ++seed) {
    INFO(seed);
    RandomLife(seed).live(60);
  }
}
