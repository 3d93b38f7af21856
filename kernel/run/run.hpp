#pragma once
// Run: one live run, the only place with a pid. It is entirely passive: it says which descriptors
// and which point in time it waits for, and whoever drives it (a poll loop, or the daemon's libuv
// loop) tells it when one is ready. It takes no decision of its own; RunMachine does.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/process_mark.hpp"
#include "kernel/confine/bound_paths.hpp"
#include "kernel/confine/cgroup.hpp"
#include "kernel/confine/host_uid.hpp"
#include "kernel/run/host_memory.hpp"
#include "kernel/run/output_capture.hpp"
#include "kernel/run/result.hpp"
#include "kernel/run/run_machine.hpp"
#include "kernel/run/spawn.hpp"
#include "kernel/run/stopped_tree.hpp"
#include "kernel/run/usage.hpp"
#include "kernel/run/workspace.hpp"

namespace paddock::kernel {

struct ZygoteLine;

using Clock = std::chrono::steady_clock;

// From the order to kill to the launcher's proof that nobody is left.
constexpr std::chrono::milliseconds kill_time_max{5'000};

// What belongs to one run until its last process is gone.
struct RunResources {
  std::shared_ptr<HostMemory> host_memory;
  std::optional<HostUidLease> host_uid;
  std::optional<CgroupLeaf> cgroup;
  std::optional<Workspace> workspace;
};

enum class Stream { stdout_stream, stderr_stream };

struct RunOptions {
  std::string stdin_bytes{};
  int program = -1;  // an executable memory file that argv names as program_path; -1: none. It is
                     // the caller's, and needed until start has returned
  int channel = -1;  // a descriptor that the program gets as channel_fd, for a plan that says so;
                     // -1: none. The caller's, and needed until start has returned
  bool stdin_stays_open = false;  // more comes through write_stdin, until close_stdin
  // Each piece of output, all of it, kept or not; for live streams. May be empty. Whoever cannot
  // take more says pause_output.
  std::function<void(Stream, std::string_view)> on_output{};
  std::string policy_hash{};  // where the caller knows policy_hash(policy) already
};

// What a supervisor needs to know a run's processes again after it was killed itself.
struct RunMarks {
  std::optional<ProcessMark> launcher;
  std::optional<ProcessMark> agent;  // once it was at the gate

  bool operator==(const RunMarks&) const = default;
};

class Run {
 public:
  // Fails with io if the launch chain cannot even be started; then nothing is left behind.
  static Result<std::unique_ptr<Run>> start(const Plan& plan, int launcher_executable,
                                            RunResources resources, RunOptions options);
  // The same as a fork of a zygote that is ready. Fails with io if the zygote is gone.
  static Result<std::unique_ptr<Run>> start_warm(const Plan& plan, const ZygoteLine& zygote,
                                                 RunResources resources, RunOptions options);
  ~Run();  // asserts finished(); a supervisor that gives up early calls abandon() first
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  struct Watch {
    int fd = -1;
    short events = 0;  // POLLIN or POLLOUT

    bool operator==(const Watch&) const = default;
  };
  std::vector<Watch> watches() const;
  std::optional<Clock::time_point> next_time() const;

  // A descriptor that left watches() stays open until release() closes it, so that a driver can
  // unregister it first. Call release() after every call that may have changed watches().
  void release() { retired_.clear(); }

  void on_ready(int fd);
  void on_time();  // call it when next_time() has passed
  // TERM, grace, KILL. `detail` is the reason, for people.
  void stop(Cause cause = Cause::killed_by_request, const std::string& detail = {});
  void kill(Cause cause = Cause::killed_by_request);  // KILL; also of a run that has its grace

  // A frozen run stands still, and its wall clock goes on. It can be stopped and killed as any
  // other, and is thawed for that. A leaf is frozen with the launchers in it: should the supervisor
  // be killed meanwhile, they do not notice, and the run stays until somebody sweeps its leaf.
  // Fails with invalid_request if the program does not run, and with io.
  Result<void> freeze();
  void thaw();
  bool frozen() const { return frozen_; }

  // While paused the output is not read: a program that writes more waits, as at any pipe, and its
  // wall clock goes on. What is in the pipes when it ends is read in any case.
  void pause_output(bool paused) { output_paused_ = paused; }

  void write_stdin(std::string_view bytes);
  void close_stdin();
  std::size_t stdin_pending_bytes() const { return stdin_bytes_.size() - stdin_written_; }

  bool started() const { return receipt_.has_value() && gate_opened_; }
  bool finished() const { return machine_.state() == RunState::done; }
  const Plan& plan() const { return plan_; }
  const std::optional<Receipt>& receipt() const { return receipt_; }
  // Of a warm run that is finished(): its zygote's network namespace is as it was before.
  bool left_network_alone() const { return left_network_alone_; }
  pid_t launcher() const { return spawned_.launcher; }  // -1: a fork that is not born yet
  const RunMarks& marks() const { return marks_; }
  RunUsage usage_now();         // of a run that is not finished(); never less than before
  SandboxResult take_result();  // once, when finished()

  void abandon();  // SIGKILL to the launcher chain; for a supervisor that is about to end

 private:
  Run(const Plan& plan, SpawnedRun spawned, RunResources resources, RunOptions options);

  void perform(const Actions& actions);
  void open_gate();
  void arm(std::chrono::milliseconds after);
  void send_control(std::uint32_t kind);
  void check_receipt();
  void continue_launcher();
  void kill_everything();
  void retire(Fd& fd);
  void kill_launcher();

  Result<void> watch_agent();
  void note_end_of_agent();
  bool init_stopped() const;

  void read_control();
  void lost_control();
  void refuse_fork();
  void note_proof(const ControlMessage& message);
  void reap_launcher();
  void finish_launcher();
  void read_output(Fd& fd, OutputCapture& capture, Stream stream);
  void stop_a_flood();
  std::optional<Starvation> measure_starvation() const;
  bool host_may_have_killed() const;
  void take_what_has_come();
  void feed_stdin();

  Plan plan_;
  SpawnedRun spawned_;
  RunResources resources_;
  BoundPaths bound_;
  bool is_warm_ = false;
  bool left_network_alone_ = false;
  RunOptions options_;
  RunMachine machine_;

  std::vector<Fd> retired_;  // no longer watched, still to be closed

  Clock::time_point spawned_at_;
  std::optional<Clock::time_point> gate_opened_at_;
  std::optional<Clock::time_point> ended_at_;  // when the agent's end was reported
  std::optional<Clock::time_point> timer_;

  bool launcher_proved_ = false;  // paddock-launch has said that it has no descendant left
  std::optional<Clock::time_point> launcher_gone_at_;
  std::optional<Clock::time_point> look_again_;  // whether the cgroup is empty now

  RunMarks marks_;
  pid_t agent_ = -1;
  ControlMessage ready_;  // what paddock-launch saw, in the agent's process
  pid_t init_ = -1;       // the agent's parent: it and the launcher may send messages
  Fd agent_pidfd_;
  bool gate_opened_ = false;
  std::string setup_messages_;  // what came on stderr before the program could write to it
  std::optional<Receipt> receipt_;
  std::optional<Exit> usage_;                // CPU and memory of the whole run, from all_gone
  std::optional<CgroupUsage> cgroup_usage_;  // read at the end
  std::optional<Starvation> starvation_;     // at the deadline, if it passed
  OutputCapture stdout_;
  OutputCapture stderr_;
  std::string stdin_bytes_;
  std::size_t stdin_written_ = 0;
  bool stdin_closing_ = false;
  bool output_paused_ = false;
  bool frozen_ = false;
  StoppedTree stopped_;  // of a frozen run without a leaf
  RunUsage last_usage_;  // as usage_now() said
};

}  // namespace paddock::kernel
