#include "kernel/run/run_machine.hpp"

#include <utility>

#include "kernel/base/error.hpp"
#include "kernel/base/signal_name.hpp"

namespace paddock::kernel {

Actions RunMachine::start() {
  return {Action::arm_setup_timer};
}

Actions RunMachine::on(const AgentReady&) {
  if (state_ != RunState::starting) return {};
  state_ = RunState::checking;
  return {Action::check_receipt};
}

Actions RunMachine::on(const ReceiptMatched&) {
  if (state_ != RunState::checking) return {};
  state_ = RunState::running;
  return {Action::open_gate, Action::arm_wall_clock};
}

Actions RunMachine::on(const ReceiptMismatch& event) {
  if (state_ != RunState::checking) return {};
  settle(Cause::cannot_isolate, event.difference);
  return kill();
}

// Nothing to do: the wall clock has been running since the gate was opened.
Actions RunMachine::on(const AgentStarted&) {
  return {};
}

Actions RunMachine::on(const ExecFailed& event) {
  if (state_ == RunState::done) return {};
  if (!settled_) ending_.exec_error = event.error;
  settle(Cause::cannot_execute, event.step + ": " + errno_text(event.error));
  return drain();
}

Actions RunMachine::on(const SetupFailed& event) {
  if (state_ == RunState::done) return {};
  settle(Cause::cannot_isolate, event.message);
  return drain();
}

Actions RunMachine::on(const AgentExited& event) {
  if (state_ == RunState::done) return {};
  if (!ending_.exit) ending_.exit = event.exit;
  if (state_ == RunState::starting || state_ == RunState::checking) {
    settle(Cause::cannot_isolate, "the agent's process ended before its program was started");
  } else if (event.exit.signal == 0) {
    settle(Cause::exited, "");
  } else {
    settle(Cause::signaled, signal_name(event.exit.signal));
  }
  return drain();
}

// Before the gate the launcher's end says the same, and after the order to kill its own timer runs.
Actions RunMachine::on(const AgentGone&) {
  if (state_ != RunState::running && state_ != RunState::terminating) return {};
  state_ = RunState::awaiting_report;
  return {Action::arm_report_timer};
}

Actions RunMachine::on(const Forged& event) {
  if (state_ == RunState::done) return {};
  settle(Cause::tampered, event.message);
  if (state_ == RunState::killing || state_ == RunState::draining) return {};
  return kill();
}

Actions RunMachine::on(const WrapperExited& event) {
  if (state_ != RunState::starting) return {};
  settle(Cause::cannot_isolate, event.message);
  return drain();
}

Actions RunMachine::on(const LauncherExited& event) {
  if (state_ == RunState::done) return {};
  launcher_gone_ = true;
  ending_.survivors_unproved = !event.clean;
  if (state_ == RunState::starting || state_ == RunState::checking) {
    settle(Cause::cannot_isolate, "paddock-launch ended before the program was started");
  } else if (!ending_.exit) {
    settle(Cause::tampered, "paddock-launch ended without a report of the agent's end");
  }
  Actions actions;
  // It was killed, so its orphans are ours to kill.
  if (!event.clean && !launcher_killed_) actions.push_back(Action::kill_launcher);
  for (const Action action : drain()) actions.push_back(action);
  return actions;
}

Actions RunMachine::on(const OutputClosed&) {
  if (state_ == RunState::done) return {};
  output_closed_ = true;
  return finish_if_over();
}

Actions RunMachine::on(const StopRequested& event) {
  if (state_ == RunState::done) return {};
  // There is nothing to stop, and the agent's end is older than the wish to stop it.
  if (state_ == RunState::awaiting_report && !event.at_once) return {};
  settle(event.cause, event.detail);
  switch (state_) {
    case RunState::starting:
    case RunState::checking:
      return kill();  // no program yet that could use the grace
    case RunState::running:
      if (event.at_once) return kill_agent();
      state_ = RunState::terminating;
      return {Action::send_term, Action::arm_grace_timer};
    case RunState::terminating:
      if (event.at_once) return kill_agent();
      return {};
    case RunState::awaiting_report:
      return kill();
    case RunState::killing_agent:
    case RunState::killing:
    case RunState::draining:
    case RunState::done:
      return {};
  }
  return {};
}

Actions RunMachine::on(const TimePassed& event) {
  switch (state_) {
    case RunState::starting:
    case RunState::checking:
      settle(Cause::cannot_isolate, "the sandbox was not ready in time");
      return kill();
    case RunState::running:
      settle(Cause::wall_clock, "wall_seconds passed");
      state_ = RunState::terminating;
      return {Action::send_term, Action::arm_grace_timer};
    case RunState::terminating:
      return kill_agent();
    case RunState::awaiting_report:
      if (event.init_stopped) {
        settle(Cause::tampered, "the agent has ended and its init was kept from reporting it");
      } else if (!std::exchange(report_late_, true)) {
        return {Action::arm_late_report_timer};
      } else {
        settle(Cause::internal, "the agent has ended and paddock-launch did not report it in time");
      }
      return kill();
    case RunState::killing_agent:
      return kill();  // the init does not obey: somebody has stopped it
    case RunState::killing:
      // Ordered to kill, and still there: do it ourselves.
      launcher_killed_ = true;
      state_ = RunState::draining;
      return {Action::kill_launcher, Action::arm_drain_timer};
    case RunState::draining:
      if (!launcher_gone_ && !launcher_killed_) return kill();
      if (!launcher_gone_) ending_.survivors_unproved = true;
      ending_.output_held_open = !output_closed_;
      state_ = RunState::done;
      return {Action::publish_outcome};
    case RunState::done:
      return {};
  }
  return {};
}

void RunMachine::settle(Cause cause, std::string detail) {
  if (std::exchange(settled_, true)) return;
  ending_.cause = cause;
  ending_.detail = std::move(detail);
}

Actions RunMachine::kill_agent() {
  state_ = RunState::killing_agent;
  return {Action::kill_agent, Action::arm_obey_timer};
}

Actions RunMachine::kill() {
  state_ = RunState::killing;
  return {Action::kill_everything, Action::arm_kill_timer};
}

// From here the launcher kills what is left and ends by itself; the timer is for when it does not.
Actions RunMachine::drain() {
  if (state_ == RunState::done) return {};
  const bool already = std::exchange(state_, RunState::draining) == RunState::draining;
  Actions actions = finish_if_over();
  if (!already && actions.empty()) actions = {Action::arm_drain_timer};
  return actions;
}

Actions RunMachine::finish_if_over() {
  if (state_ != RunState::draining || !launcher_gone_ || !output_closed_) return {};
  state_ = RunState::done;
  return {Action::publish_outcome};
}

}  // namespace paddock::kernel
