#include "supervisor/agents/agent_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

using kernel::AgentProtocol;
using kernel::Cause;
using kernel::RestartPolicy;
using std::chrono::milliseconds;

std::string_view name_of(AgentState state) {
  switch (state) {
    case AgentState::stopped:
      return "stopped";
    case AgentState::starting:
      return "starting";
    case AgentState::running:
      return "running";
    case AgentState::stopping:
      return "stopping";
    case AgentState::backing_off:
      return "backing_off";
    case AgentState::frozen:
      return "frozen";
    case AgentState::failed:
      return "failed";
  }
  return "failed";
}

std::string_view name_of(ExitKind kind) {
  switch (kind) {
    case ExitKind::completed:
      return "completed";
    case ExitKind::cancelled:
      return "cancelled";
    case ExitKind::failed:
      return "failed";
    case ExitKind::crashed:
      return "crashed";
  }
  return "crashed";
}

milliseconds backoff_before(const kernel::RestartRules& rules, std::uint64_t restart,
                            double random) {
  constexpr std::uint64_t doublings_max = 40;  // past it any wait is at its maximum
  const auto doublings = std::min(restart - std::min<std::uint64_t>(restart, 1), doublings_max);
  const double wait =
      std::min(std::ldexp(static_cast<double>(rules.backoff.count()), static_cast<int>(doublings)),
               static_cast<double>(rules.backoff_max.count()));
  return milliseconds(std::llround(wait * (1 + rules.jitter * (random - 0.5))));
}

// ---- What is asked -----------------------------------------------------------------------------

Actions AgentMachine::on(const StartAsked&) {
  if (draining_) return {};
  switch (state_) {
    case AgentState::stopped:
    case AgentState::backing_off:
    case AgentState::failed:
      restarts_ = 0;
      return begin();
    case AgentState::stopping:
      start_again_ = true;
      return {};
    case AgentState::starting:
    case AgentState::running:
    case AgentState::frozen:
      return {};
  }
  return {};
}

Actions AgentMachine::on(const StopAsked&) {
  start_again_ = false;
  overstayed_ = false;
  doom_.clear();
  switch (state_) {
    case AgentState::starting:
    case AgentState::running:
    case AgentState::frozen:
      stop_reason_ = "agent stop";
      return stop(/*gently=*/state_ == AgentState::running);
    case AgentState::backing_off:
    case AgentState::failed:
      return settle_stopped();
    case AgentState::stopped:
    case AgentState::stopping:
      return {};
  }
  return {};
}

Actions AgentMachine::on(const RestartAsked&) {
  if (!has_run()) return on(StartAsked{});
  const bool is_stopping = state_ == AgentState::stopping;
  Actions actions = on(StopAsked{});
  if (!is_stopping) stop_reason_ = "agent restart";
  start_again_ = !draining_;
  return actions;
}

Actions AgentMachine::on(const DrainBegun&) {
  draining_ = true;
  start_again_ = false;
  if (has_run()) return state_ == AgentState::stopping ? Actions{} : on(StopAsked{});
  if (state_ != AgentState::backing_off) return {};
  return settle_stopped();
}

Actions AgentMachine::stop(bool gently) {
  stopped_frozen_ = state_ == AgentState::frozen;
  if (!doom_.empty()) stop_reason_ = doom_;
  state_ = AgentState::stopping;
  if (gently && protocol_ == AgentProtocol::jsonl)
    return {Action::send_stop, Action::arm_stop_timer};
  term_sent_ = true;
  return {Action::disarm_timer, Action::stop_run};
}

// ---- The run -----------------------------------------------------------------------------------

bool AgentMachine::has_run() const {
  switch (state_) {
    case AgentState::starting:
    case AgentState::running:
    case AgentState::stopping:
    case AgentState::frozen:
      return true;
    case AgentState::stopped:
    case AgentState::backing_off:
    case AgentState::failed:
      return false;
  }
  return false;
}

Actions AgentMachine::begin() {
  state_ = AgentState::starting;
  reason_.clear();
  doom_.clear();
  program_runs_ = false;
  start_again_ = false;
  term_sent_ = false;
  succeeded_ = false;
  said_exit_ = false;
  overstayed_ = false;
  return {Action::disarm_timer, Action::start_run};
}

Actions AgentMachine::on(const RunStarted&) {
  program_runs_ = true;
  if (state_ != AgentState::starting) return {};
  if (protocol_ == AgentProtocol::plain) return run();
  return {Action::send_init, Action::arm_handshake_timer};
}

Actions AgentMachine::on(const ReadyReceived&) {
  if (state_ != AgentState::starting || !program_runs_ || protocol_ != AgentProtocol::jsonl)
    return {};
  return run();
}

Actions AgentMachine::run() {
  state_ = AgentState::running;
  Actions actions = {Action::disarm_timer, Action::tell_ready};
  const Actions more = spent_ ? on(BudgetSpent{}) : go_on();
  actions.insert(actions.end(), more.begin(), more.end());
  return actions;
}

// One that said `exit` has a bound to end by itself. It can only do that while it runs.
Actions AgentMachine::go_on() {
  return said_exit_ ? Actions{Action::arm_exit_timer} : Actions{};
}

Actions AgentMachine::on(const ExitReceived& event) {
  if (!has_run() || said_exit_) return {};
  said_exit_ = true;
  exit_kind_ = event.kind;
  return state_ == AgentState::running ? go_on() : Actions{};
}

Actions AgentMachine::on(const TimePassed&) {
  switch (state_) {
    case AgentState::starting:
      if (!program_runs_) return {};
      doom_ = fmt::format("no 'ready' within {} s of 'init'", handshake_time_max.count() / 1000);
      return stop(/*gently=*/false);
    case AgentState::stopping:
      if (std::exchange(term_sent_, true)) return {};
      return {Action::stop_run};
    case AgentState::backing_off:
      return begin();
    case AgentState::running:
      if (!said_exit_) return {};
      overstayed_ = true;
      stop_reason_ = fmt::format("said '{}' and did not end within {} s", name_of(exit_kind_),
                                 std::chrono::duration<double>(rules_.stop).count());
      return stop(/*gently=*/false);
    case AgentState::stopped:
    case AgentState::frozen:
    case AgentState::failed:
      return {};
  }
  return {};
}

// ---- Its budget --------------------------------------------------------------------------------

Actions AgentMachine::on(const BudgetSpent&) {
  spent_ = true;
  if (state_ != AgentState::running) return {};
  state_ = AgentState::frozen;
  return {Action::disarm_timer, Action::freeze_run, Action::tell_frozen};
}

Actions AgentMachine::on(const BudgetGranted&) {
  spent_ = false;
  if (state_ != AgentState::frozen) return {};
  state_ = AgentState::running;
  Actions actions = {Action::thaw_run, Action::tell_thawed};
  const Actions more = go_on();
  actions.insert(actions.end(), more.begin(), more.end());
  return actions;
}

// What cannot be held back from using more than it may is ended.
Actions AgentMachine::on(const FreezeFailed& event) {
  if (state_ != AgentState::frozen) return {};
  doom_ = "its budget is spent, and it cannot be frozen: " + event.reason;
  return stop(/*gently=*/false);
}

// ---- Its end -----------------------------------------------------------------------------------

bool AgentMachine::is_success(const RunEnded& ended) const {
  if (ended.cause != Cause::exited) return false;
  if (protocol_ == AgentProtocol::plain) return ended.exit_code == 0;
  if (!said_exit_ || contradicts_itself(ended)) return false;
  return exit_kind_ == ExitKind::completed || exit_kind_ == ExitKind::cancelled;
}

// It said that it was over and well, and its end says something else. Which of the two holds is for
// somebody to find out: to do again what is done may be the worse mistake. What is cancelled may
// say so by its exit status.
bool AgentMachine::contradicts_itself(const RunEnded& ended) const {
  if (!said_exit_) return false;
  const bool is_completed = exit_kind_ == ExitKind::completed;
  if (ended.cause == Cause::killed_by_request)
    return overstayed_ && (is_completed || exit_kind_ == ExitKind::cancelled);
  if (ended.cause == Cause::signaled) return is_completed;
  return ended.cause == Cause::exited && ended.exit_code != 0 && is_completed;
}

std::string AgentMachine::describe(const RunEnded& ended) const {
  std::string text = ended.cause == Cause::exited ? fmt::format("exited with {}", ended.exit_code)
                                                  : std::string(kernel::name_of(ended.cause));
  if (!ended.detail.empty()) text += ": " + ended.detail;
  if (!overstayed_ && contradicts_itself(ended))
    return fmt::format("{}, although it said '{}'", text, name_of(exit_kind_));
  if (protocol_ == AgentProtocol::plain || ended.cause != Cause::exited) return text;
  return said_exit_ ? fmt::format("{}, said '{}'", text, name_of(exit_kind_))
                    : text + " without an 'exit' message";
}

Actions AgentMachine::on(const RunRefused& event) {
  if (!has_run()) return {};
  Actions actions = {Action::disarm_timer};
  const auto add = [&](const Actions& more) {
    actions.insert(actions.end(), more.begin(), more.end());
    return actions;
  };
  if (draining_) return add(settle_stopped());
  if (state_ == AgentState::stopping) return add(start_again_ ? begin() : settle_stopped());
  if (event.for_good) return add(fail_for_good(event.reason));
  // The host's trouble, not the agent's: it is no restart of those that are counted.
  return add(back_off(event.reason, /*counts=*/false, event.random));
}

Actions AgentMachine::on(const RunEnded& event) {
  if (!has_run()) return {};
  Actions actions = {Action::disarm_timer, Action::tell_exited};
  const auto add = [&](const Actions& more) {
    actions.insert(actions.end(), more.begin(), more.end());
    return actions;
  };
  const bool was_stopping = state_ == AgentState::stopping;
  succeeded_ = is_success(event);
  if (event.lived >= rules_.reset) restarts_ = 0;
  if (draining_ || event.cause == Cause::shutdown) return add(settle_stopped());
  if (was_stopping && start_again_) {
    restarts_ = 0;
    return add(begin());
  }
  if (was_stopping && doom_.empty() && !overstayed_) return add(settle_stopped());
  if (was_stopping && !doom_.empty()) return add(fail_for_good(doom_));
  if (event.cause == Cause::cannot_isolate) return add(fail_for_good(describe(event)));
  if (event.cause == Cause::exited && event.exit_code == kernel::exit_cannot_isolate)
    return add(fail_for_good("exited with 3, the word for isolation that cannot be had"));
  if (succeeded_ && rules_.policy != RestartPolicy::always) return add(settle_stopped());
  if (rules_.policy == RestartPolicy::never ||
      (contradicts_itself(event) && rules_.policy != RestartPolicy::always))
    return add(fail_for_good(describe(event)));
  return add(back_off(describe(event), /*counts=*/true, event.random));
}

Actions AgentMachine::settle_stopped() {
  state_ = AgentState::stopped;
  reason_.clear();
  doom_.clear();
  restarts_ = 0;
  return {Action::disarm_timer, Action::tell_stopped};
}

Actions AgentMachine::fail_for_good(std::string reason) {
  state_ = AgentState::failed;
  reason_ = std::move(reason);
  return {Action::tell_failed};
}

Actions AgentMachine::back_off(std::string reason, bool counts, double random) {
  if (counts && restarts_ >= rules_.max_restarts)
    return fail_for_good(
        fmt::format("gave up after {} restarts in a row; the last end: {}", restarts_, reason));
  if (counts) ++restarts_;
  state_ = AgentState::backing_off;
  reason_ = std::move(reason);
  backoff_ = backoff_before(rules_, counts ? restarts_ : restarts_ + 1, random);
  return {Action::tell_restarting, Action::arm_backoff_timer};
}

}  // namespace paddock::supervisor
