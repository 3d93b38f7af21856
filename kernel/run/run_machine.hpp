#pragma once
// RunMachine: the lifecycle of one run, with no I/O in it. Events go in, actions come out.
//
//   starting --agent_ready--> checking --receipt_matched--> running --deadline, stop--> terminating
//      |                         |                             |                          |
//      | set-up failed,          | receipt mismatch,           | agent exited,   grace is over or
//      | stop, time is up        | stop, time is up            | exec failed     killed at once
//      v                         v                             v                          v
//   killing  <------------------------------------------ (not obeyed) ------------ killing_agent
//      |                                                       |                          |
//      +-----------------------------> draining <--------------+----- agent exited -------+
//                                         |  launcher gone and output closed, or time is up
//                                         v
//                                       done: the outcome is published, once
//
// From running and terminating, the end of the agent's process as the kernel shows it leads to
// awaiting_report. The report of its init follows at once and leads to draining. Where it does not,
// somebody has stopped the init, and that is tampering; or the host is that slow, which gets a
// second, longer wait. Both lead to killing. So does, from any state, a message that nobody of the
// launch chain has sent.
//
// The first cause wins: a run that is stopped for its deadline ends as wall_clock however it then
// exits. Every state but `done` has a timer, and no run waits for ever; only a profile without
// wall_seconds lets `running` do so.

#include <optional>
#include <string>
#include <vector>

#include "kernel/run/outcome.hpp"

namespace paddock::kernel {

enum class RunState {
  starting,
  checking,
  running,
  terminating,
  awaiting_report,
  killing_agent,
  killing,
  draining,
  done
};

// Events.
struct AgentReady {};      // confined and waiting at the gate
struct ReceiptMatched {};  // what was seen on the process is what the plan says
struct ReceiptMismatch {
  std::string difference;
};
struct AgentStarted {};
struct ExecFailed {
  int error = 0;     // errno
  std::string step;  // execve, or entering the working directory
};
struct SetupFailed {
  std::string message;
};
struct AgentExited {
  Exit exit;
};
struct AgentGone {};  // its process has ended: seen by the supervisor itself, not reported
struct Forged {       // a message from a process that has none to send
  std::string message;
};
struct WrapperExited {
  std::string message;  // how bwrap ended; counts only if the agent never got ready
};
struct LauncherExited {
  bool clean = false;  // it proved that no descendant is left
};
struct OutputClosed {};  // stdout and stderr both reached end of file
struct StopRequested {
  Cause cause = Cause::killed_by_request;  // or shutdown, or output_limit
  bool at_once = false;                    // without TERM and grace; also if they have begun
  std::string detail{};
};
struct TimePassed {           // the timer of the present state
  bool init_stopped = false;  // looked at in awaiting_report: it is held by SIGSTOP or a tracer
};

enum class Action {
  check_receipt,
  open_gate,
  send_term,        // to the agent's process group
  kill_agent,       // by its init, which can then say how it ended and what the run used
  kill_everything,  // through the cgroup and the launcher
  kill_launcher,    // it did not obey: SIGKILL, and hunt its orphans
  arm_setup_timer,
  arm_wall_clock,
  arm_grace_timer,
  arm_report_timer,
  arm_late_report_timer,
  arm_obey_timer,
  arm_kill_timer,
  arm_drain_timer,
  publish_outcome,
};
using Actions = std::vector<Action>;

class RunMachine {
 public:
  Actions start();
  Actions on(const AgentReady&);
  Actions on(const ReceiptMatched&);
  Actions on(const ReceiptMismatch&);
  Actions on(const AgentStarted&);
  Actions on(const ExecFailed&);
  Actions on(const SetupFailed&);
  Actions on(const AgentExited&);
  Actions on(const AgentGone&);
  Actions on(const Forged&);
  Actions on(const WrapperExited&);
  Actions on(const LauncherExited&);
  Actions on(const OutputClosed&);
  Actions on(const StopRequested&);
  Actions on(const TimePassed&);

  RunState state() const { return state_; }
  const Ending& ending() const { return ending_; }

 private:
  void settle(Cause cause, std::string detail);  // the first call decides
  Actions kill_agent();
  Actions kill();
  Actions drain();
  Actions finish_if_over();

  RunState state_ = RunState::starting;
  Ending ending_;
  bool settled_ = false;
  bool launcher_gone_ = false;
  bool output_closed_ = false;
  bool launcher_killed_ = false;
  bool report_late_ = false;
};

}  // namespace paddock::kernel
