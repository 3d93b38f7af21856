// What the RunMachine orders, done; and the result at the end. What it is told of is in run.cpp.

#include <linux/keyctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <csignal>
#include <utility>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/run/deadline.hpp"
#include "kernel/run/run.hpp"

namespace paddock::kernel {
namespace {

using std::chrono::milliseconds;

// The chain is ready in under 10 ms on an idle host; this is for one that swaps.
constexpr milliseconds setup_time_max{30'000};
// From the order to the init to the end of the agent. An agent of the same user can have stopped
// it.
constexpr milliseconds obey_time_max{250};
// From the end of the agent's process to the report of its init, which takes no millisecond unless
// the host is overloaded or the run's own cpu_max holds the init back. The second time is for
// those.
constexpr milliseconds report_time_max{1'000};
constexpr milliseconds late_report_time_max{10'000};
// From the agent's end to the end of its pipes, which only somebody outside the run can hold by
// then.
constexpr milliseconds drain_time_max{2'000};

void send_signal(const Fd& pidfd, int signal) {
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
}

// Its serial number; 0 if there is none or it cannot be told.
std::int32_t session_keyring() {
  const long serial = ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
  return serial < 0 ? 0 : static_cast<std::int32_t>(serial);
}

// What cannot be looked at is not there.
std::map<std::string, std::uint64_t> devices_of(pid_t pid,
                                                const std::map<std::string, std::uint64_t>& paths) {
  std::map<std::string, std::uint64_t> devices;
  for (const auto& [path, zygotes] : paths) {
    struct stat info {};
    if (::stat(("/proc/" + std::to_string(pid) + "/root" + path).c_str(), &info) == 0)
      devices[path] = info.st_dev;
  }
  return devices;
}

// What the set-up itself wrote to stderr (the program has not run): its last line is the reason.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
}

}  // namespace

void Run::perform(const Actions& actions) {
  for (const Action action : actions) {
    switch (action) {
      case Action::check_receipt:
        if (const auto watched = watch_agent(); watched) {
          check_receipt();
        } else {
          perform(machine_.on(ReceiptMismatch{watched.error().message}));
        }
        break;
      case Action::open_gate:
        open_gate();
        break;
      case Action::send_term:
        thaw();
        continue_launcher();
        send_control(static_cast<std::uint32_t>(ControlKind::terminate));
        break;
      case Action::kill_agent:
        thaw();
        continue_launcher();
        send_control(static_cast<std::uint32_t>(ControlKind::kill));
        break;
      case Action::kill_everything:
        kill_everything();
        break;
      case Action::kill_launcher:
        kill_launcher();
        break;
      case Action::arm_setup_timer:
        arm(setup_time_max);
        break;
      case Action::arm_wall_clock:
        timer_.reset();
        if (plan_.wall_clock) arm(*plan_.wall_clock);
        break;
      case Action::arm_grace_timer:
        arm(plan_.grace);
        break;
      case Action::arm_report_timer:
        arm(report_time_max);
        break;
      case Action::arm_late_report_timer:
        arm(late_report_time_max);
        break;
      case Action::arm_obey_timer:
        arm(obey_time_max);
        break;
      case Action::arm_kill_timer:
        arm(kill_time_max);
        break;
      case Action::arm_drain_timer:
        arm(drain_time_max);
        break;
      case Action::publish_outcome:
        timer_.reset();
        if (resources_.cgroup && !(launcher_proved_ && cgroup_usage_))
          cgroup_usage_ = resources_.cgroup->usage();
        break;  // the driver sees finished()
    }
  }
}

void Run::arm(milliseconds after) {
  timer_ = Clock::now() + after;
}

void Run::send_control(std::uint32_t kind) {
  const ControlMessage message{.kind = static_cast<ControlKind>(kind)};
  if (spawned_.control)
    ::send(spawned_.control.get(), &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Run::open_gate() {
  // What bubblewrap wrote until now is not the program's output.
  if (spawned_.stderr_read) read_output(spawned_.stderr_read, stderr_, Stream::stderr_stream);
  gate_opened_ = true;
  gate_opened_at_ = Clock::now();
  send_control(static_cast<std::uint32_t>(ControlKind::open_gate));
}

void Run::check_receipt() {
  auto receipt = observe(agent_);
  const std::vector<std::string> moved = bound_.differences(agent_);
  if (!receipt) {
    perform(machine_.on(
        ReceiptMismatch{"the confinement cannot be observed: " + receipt.error().message}));
    return;
  }
  if (resources_.cgroup) receipt->cgroup_knobs = resources_.cgroup->limits();
  receipt->landlock_abi = plan_.launch.landlock.abi;
  receipt->landlock_seen = ready_.landlock_seen;
  receipt->self_seen = ready_.self_seen;
  receipt->shares_session_keyring =
      ready_.session_keyring != 0 && (ready_.session_keyring == session_keyring() ||
                                      ready_.session_keyring == plan_.not_session_keyring);
  receipt->devices = devices_of(agent_, plan_.not_devices);
  if (is_traceable(init_)) receipt->traceable.emplace_back("init");
  if (init_ != spawned_.launcher && is_traceable(spawned_.launcher))
    receipt->traceable.emplace_back("guard");
  std::string differences;
  std::vector<std::string> all = compare(plan_, *receipt);
  receipt_ = std::move(*receipt);
  all.insert(all.end(), moved.begin(), moved.end());
  for (const std::string& difference : all)
    differences += (differences.empty() ? "" : "; ") + difference;
  if (differences.empty()) {
    perform(machine_.on(ReceiptMatched{}));
  } else {
    perform(machine_.on(ReceiptMismatch{differences}));
  }
}

// An agent of the same user, without a PID namespace, can have stopped its own init.
void Run::continue_launcher() {
  if (spawned_.launcher_pidfd) send_signal(spawned_.launcher_pidfd, SIGCONT);
}

void Run::kill_everything() {
  thaw();
  if (resources_.cgroup) resources_.cgroup->kill();
  continue_launcher();
  if (spawned_.launcher_pidfd) send_signal(spawned_.launcher_pidfd, SIGTERM);
}

// Its orphans come to this process, which is their subreaper: see kill_strays.
void Run::kill_launcher() {
  thaw();
  if (resources_.cgroup) resources_.cgroup->kill();
  if (spawned_.launcher_pidfd) send_signal(spawned_.launcher_pidfd, SIGKILL);
}

void Run::abandon() {
  kill_launcher();
  if (spawned_.launcher_pidfd) {
    siginfo_t info{};
    while (::waitid(P_PIDFD, static_cast<id_t>(spawned_.launcher_pidfd.get()), &info, WEXITED) !=
               0 &&
           errno == EINTR) {
    }
  }
  stop();
  while (!finished()) perform(machine_.on(TimePassed{}));
}

// Only where a process was killed and no leaf says by whom: reading the host's counters takes time.
bool Run::host_may_have_killed() const {
  const Ending& ending = machine_.ending();
  const bool is_killed = ending.cause == Cause::signaled && ending.exit->signal == SIGKILL;
  if (!is_killed || !resources_.host_memory || !gate_opened_at_) return false;
  const bool leaf_tells = cgroup_usage_ && cgroup_usage_->memory_bytes;
  return !leaf_tells && resources_.host_memory->may_have_killed_since(*gate_opened_at_);
}

SandboxResult Run::take_result() {
  assert(finished());
  const ClassifyFacts facts{
      .cpu_seconds = [&]() -> std::optional<std::uint64_t> {
        for (const Rlimit& limit : plan_.launch.rlimits)
          if (limit.resource == RLIMIT_CPU) return limit.value;
        return std::nullopt;
      }(),
      .cgroup = cgroup_usage_.value_or(CgroupUsage{}),
      .output_bytes = stdout_.total_bytes() + stderr_.total_bytes(),
      .output_stop_bytes = plan_.output_stop_bytes,
      .starvation = starvation_,
      .host_may_have_killed = host_may_have_killed(),
  };
  SandboxResult result;
  apply_ending(classify(machine_.ending(), facts), result);
  if (usage_) {  // of the whole run, survivors included
    result.cpu_user_us = usage_->cpu_user_us;
    result.cpu_system_us = usage_->cpu_system_us;
    result.max_rss_bytes = usage_->max_rss_kib * 1024;
    result.written_bytes = usage_->written_bytes;
  }
  result.stdout_bytes = stdout_.total_bytes();
  result.stderr_bytes = stderr_.total_bytes();
  result.stdout_truncated = stdout_.truncated();
  result.stderr_truncated = stderr_.truncated();
  result.stdout = stdout_.take();
  result.stderr = stderr_.take();
  if (result.cause == Cause::cannot_execute)
    result.detail +=
        " (program '" + plan_.launch.argv.front() + "', directory '" + plan_.launch.workdir + "')";
  if (result.cause == Cause::cannot_isolate) {
    const std::string reason = last_line(setup_messages_);
    if (!reason.empty()) result.detail += ": " + reason;
  }
  const auto seconds = [](Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
  };
  const Clock::time_point end = ended_at_.value_or(Clock::now());
  if (gate_opened_at_) {
    result.setup_s = seconds(*gate_opened_at_ - spawned_at_);
    result.duration_s = seconds(end - *gate_opened_at_);
  }
  if (result.cause == Cause::wall_clock && plan_.wall_clock)
    result.detail = deadline_detail(*plan_.wall_clock, plan_.grace,
                                    std::chrono::duration<double>(result.duration_s));
  result.profile = plan_.profile;
  result.policy_hash = plan_.policy_hash;
  result.receipt = receipt_;
  result.degraded = plan_.degraded;
  return result;
}

}  // namespace paddock::kernel
