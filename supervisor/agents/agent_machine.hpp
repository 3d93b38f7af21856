#pragma once
// AgentMachine: the life of one long-running agent, with no I/O in it. Events go in, actions come
// out.
//
//   stopped --start--> starting --started (plain), ready (jsonl)--> running <--granted-- frozen
//      ^                  |                                          |   --spent-->        |
//      |                  +------------------ the run ended ---------+---------------------+
//      |                  |                          |                    |
//      |     nothing may be tried again   it may, and not too often   it succeeded
//      |                  v                          v                    v
//      |               failed                   backing_off            stopped
//      |                                             | time is up
//      +-- stopping <-- stop, from any state         v
//             with a run                          starting
//
// There is never more than one run, and a timer in every state that waits for something that need
// not come. One timer is enough: arming it replaces what it was armed for.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/policy/agent_template.hpp"
#include "kernel/run/outcome.hpp"

namespace paddock::supervisor {

// From `init` to `ready`, and from a `stop` message to TERM.
constexpr std::chrono::milliseconds handshake_time_max{5'000};
constexpr std::chrono::milliseconds stop_message_time_max{5'000};

enum class AgentState { stopped, starting, running, stopping, backing_off, frozen, failed };
std::string_view name_of(AgentState state);

// How an agent says that it ended.
enum class ExitKind { completed, cancelled, failed, crashed };
std::string_view name_of(ExitKind kind);

// Events.
struct StartAsked {};
struct StopAsked {};
struct RestartAsked {};
struct RunRefused {  // it was not even started
  std::string reason;
  bool for_good = false;  // trying again would not help
  double random = 0.5;    // in [0, 1): for the jitter, here and below
};
struct RunStarted {};  // its program runs
struct ReadyReceived {};
struct ExitReceived {
  ExitKind kind = ExitKind::crashed;
};
struct RunEnded {
  kernel::Cause cause = kernel::Cause::internal;
  int exit_code = 0;                  // as SandboxResult has it
  std::string detail{};               // for people
  std::chrono::milliseconds lived{};  // since RunStarted
  double random = 0.5;
};
struct TimePassed {};  // the timer of the present state
struct BudgetSpent {};
struct BudgetGranted {};
struct FreezeFailed {
  std::string reason;
};
struct DrainBegun {};  // the daemon stops: what runs ends, and nothing starts any more

enum class Action {
  start_run,
  send_init,
  send_stop,  // the message
  stop_run,   // TERM, stop_seconds, KILL
  freeze_run,
  thaw_run,
  arm_handshake_timer,
  arm_exit_timer,  // for the stop time of the rules: it said `exit`
  arm_stop_timer,
  arm_backoff_timer,  // for backoff()
  disarm_timer,
  // What the ledger and /v1/events are told.
  tell_ready,
  tell_exited,
  tell_restarting,
  tell_failed,
  tell_stopped,
  tell_frozen,
  tell_thawed,
};
using Actions = std::vector<Action>;

// The wait before the restart of that number (1 is the first), 1 +- jitter/2 times what the rules
// say. Pure.
std::chrono::milliseconds backoff_before(const kernel::RestartRules& rules, std::uint64_t restart,
                                         double random);

class AgentMachine {
 public:
  AgentMachine(kernel::AgentProtocol protocol, kernel::RestartRules rules)
      : protocol_(protocol), rules_(rules) {}

  // Other rules, from the next run on: call it while there is none, or while one is started.
  void use(kernel::AgentProtocol protocol, kernel::RestartRules rules) {
    protocol_ = protocol;
    rules_ = rules;
  }

  Actions on(const StartAsked&);
  Actions on(const StopAsked&);
  Actions on(const RestartAsked&);
  Actions on(const RunRefused&);
  Actions on(const RunStarted&);
  Actions on(const ReadyReceived&);
  Actions on(const ExitReceived&);
  Actions on(const RunEnded&);
  Actions on(const TimePassed&);
  Actions on(const BudgetSpent&);
  Actions on(const BudgetGranted&);
  Actions on(const FreezeFailed&);
  Actions on(const DrainBegun&);

  AgentState state() const { return state_; }
  std::uint64_t restarts() const { return restarts_; }  // in a row
  std::chrono::milliseconds backoff() const { return backoff_; }
  const std::string& reason() const { return reason_; }  // of failed and backing_off; else empty
  bool succeeded() const { return succeeded_; }          // the last run; false while there is one
  bool draining() const { return draining_; }
  // Why the present run is stopped, and whether its budget was spent then.
  const std::string& stop_reason() const { return stop_reason_; }
  bool stopped_frozen() const { return stopped_frozen_; }

 private:
  bool has_run() const;
  Actions begin();
  Actions stop(bool gently);
  Actions run();
  Actions go_on();
  Actions settle_stopped();
  Actions fail_for_good(std::string reason);
  Actions back_off(std::string reason, bool counts, double random);
  bool is_success(const RunEnded& ended) const;
  bool contradicts_itself(const RunEnded& ended) const;
  std::string describe(const RunEnded& ended) const;

  kernel::AgentProtocol protocol_;
  kernel::RestartRules rules_;
  AgentState state_ = AgentState::stopped;
  std::uint64_t restarts_ = 0;
  std::chrono::milliseconds backoff_{};
  std::string reason_;
  std::string doom_;  // of a run that is stopped for what it may not do again
  std::string stop_reason_;
  bool stopped_frozen_ = false;
  bool program_runs_ = false;  // since RunStarted
  bool start_again_ = false;   // as soon as the run that is stopping has ended
  bool term_sent_ = false;
  bool spent_ = false;  // its budget
  bool succeeded_ = false;
  bool draining_ = false;
  bool said_exit_ = false;
  bool overstayed_ = false;  // it said `exit`, and has to be ended all the same
  ExitKind exit_kind_ = ExitKind::crashed;
};

}  // namespace paddock::supervisor
