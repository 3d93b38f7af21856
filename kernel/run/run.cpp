#include "kernel/run/run.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "kernel/base/process_tree.hpp"
#include "kernel/confine/bubblewrap.hpp"
#include "kernel/confine/launch_wire.hpp"
#include "kernel/warm/spawn_warm.hpp"

namespace paddock::kernel {
namespace {

using std::chrono::milliseconds;

// Read per turn: one flooding run must not keep the others waiting.
constexpr std::size_t read_bytes_per_turn = 256 * 1024;
constexpr std::size_t setup_message_bytes_max = 4096;

Exit exit_of(const ControlMessage& message) {
  return {.code = message.exited,
          .signal = message.signal,
          .own_cpu_us = message.own_cpu_us,
          .cpu_user_us = message.cpu_user_us,
          .cpu_system_us = message.cpu_system_us,
          .max_rss_kib = message.max_rss_kib,
          .written_bytes = message.written_bytes};
}

struct Ancillary {
  pid_t sender = -1;  // of the packet, as the kernel says
  Fd descriptor;      // that came with it
};

Ancillary ancillary_of(msghdr& header) {
  Ancillary found;
  for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
    if (at->cmsg_level != SOL_SOCKET) continue;
    if (at->cmsg_type == SCM_CREDENTIALS)
      found.sender = reinterpret_cast<const ucred*>(CMSG_DATA(at))->pid;
    if (at->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(at), sizeof fd);
      found.descriptor = Fd(fd);
    }
  }
  return found;
}

std::uint64_t microseconds_in(Clock::duration duration) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

bool has_ended(const Fd& pidfd) {
  pollfd polled{pidfd.get(), POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0;
}

// Can a process have ended like that?
bool is_possible(const ControlMessage& message) {
  return message.exited >= -1 && message.exited <= 255 && message.signal >= 0 &&
         message.signal < NSIG;
}

std::string ending_text(const ControlMessage& message) {
  if (message.signal != 0)
    return "bubblewrap was ended by signal " + std::to_string(message.signal);
  return "bubblewrap exited with " + std::to_string(message.exited) + " before the program started";
}

// A library may not change the process's disposition, so SIGPIPE is held back for this one call.
ssize_t write_without_sigpipe(const Fd& fd, std::string_view bytes) {
  sigset_t sigpipe;
  sigset_t before;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
  const ssize_t count = ::write(fd.get(), bytes.data(), bytes.size());
  const int saved = errno;
  if (count < 0 && saved == EPIPE && sigismember(&before, SIGPIPE) == 0) {
    const timespec now{};
    ::sigtimedwait(&sigpipe, nullptr, &now);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = saved;
  return count;
}

}  // namespace

Result<std::unique_ptr<Run>> Run::start(const Plan& plan, int launcher_executable,
                                        RunResources resources, RunOptions options) {
  BoundPaths bound = TRY(BoundPaths::open(plan.binds, plan.system_binds));
  if (!plan.workspace.empty()) TRY_VOID(bound.add(plan.workspace, sandbox_workspace));
  const int cgroup = resources.cgroup ? resources.cgroup->directory() : -1;
  SpawnedRun spawned =
      TRY(spawn(plan, launcher_executable, cgroup, options.program, options.channel));
  std::unique_ptr<Run> run(
      new Run(plan, std::move(spawned), std::move(resources), std::move(options)));
  run->bound_ = std::move(bound);
  run->perform(run->machine_.start());
  return run;
}

Result<std::unique_ptr<Run>> Run::start_warm(const Plan& plan, const ZygoteLine& zygote,
                                             RunResources resources, RunOptions options) {
  BoundPaths bound = TRY(BoundPaths::open(plan.binds, plan.system_binds));
  const Fd cgroup = resources.cgroup ? TRY(resources.cgroup->entrance()) : Fd();
  SpawnedRun spawned = TRY(spawn_warm(plan, zygote, cgroup.get(), options.channel));
  std::unique_ptr<Run> run(
      new Run(plan, std::move(spawned), std::move(resources), std::move(options)));
  run->is_warm_ = true;
  run->bound_ = std::move(bound);
  run->perform(run->machine_.start());
  return run;
}

Run::Run(const Plan& plan, SpawnedRun spawned, RunResources resources, RunOptions options)
    : plan_(plan),
      spawned_(std::move(spawned)),
      resources_(std::move(resources)),
      options_(std::move(options)),
      spawned_at_(Clock::now()),
      stdout_(plan.output_bytes),
      stderr_(plan.output_bytes),
      stdin_bytes_(std::move(options_.stdin_bytes)),
      stdin_closing_(!options_.stdin_stays_open) {
  if (spawned_.launcher > 0) marks_.launcher = mark_of(spawned_.launcher);
}

Run::~Run() {
  assert(finished());
}

// ---- What to wait for --------------------------------------------------------------------------

std::vector<Run::Watch> Run::watches() const {
  std::vector<Watch> watches;
  const auto add = [&](const Fd& fd, short events) {
    if (fd) watches.push_back({fd.get(), events});
  };
  add(spawned_.control, POLLIN);
  add(spawned_.launcher_pidfd, POLLIN);
  const RunState state = machine_.state();
  if (state == RunState::running || state == RunState::terminating) add(agent_pidfd_, POLLIN);
  if (!output_paused_ || ended_at_) {
    add(spawned_.stdout_read, POLLIN);
    add(spawned_.stderr_read, POLLIN);
  }
  // Without bytes to write only the reader's hang-up counts, and that can wait until there are
  // some.
  if (spawned_.stdin_write && gate_opened_ && (stdin_pending_bytes() > 0 || stdin_closing_))
    add(spawned_.stdin_write, POLLOUT);
  return watches;
}

std::optional<Clock::time_point> Run::next_time() const {
  if (!timer_ || !look_again_) return timer_ ? timer_ : look_again_;
  return std::min(*timer_, *look_again_);
}

// ---- Events: from descriptors and the clock to the machine -------------------------------------

void Run::on_ready(int fd) {
  if (finished()) return;
  if (spawned_.control && fd == spawned_.control.get()) return read_control();
  if (spawned_.launcher_pidfd && fd == spawned_.launcher_pidfd.get()) return reap_launcher();
  if (agent_pidfd_ && fd == agent_pidfd_.get()) return note_end_of_agent();
  if (spawned_.stdout_read && fd == spawned_.stdout_read.get())
    return read_output(spawned_.stdout_read, stdout_, Stream::stdout_stream);
  if (spawned_.stderr_read && fd == spawned_.stderr_read.get())
    return read_output(spawned_.stderr_read, stderr_, Stream::stderr_stream);
  if (spawned_.stdin_write && fd == spawned_.stdin_write.get()) return feed_stdin();
}

// A loop that was held up sees that time has passed and what has come meanwhile in one turn. What
// has come may be older: an end before the deadline, and output that was there in time.
void Run::take_what_has_come() {
  for (const Watch& watch : watches()) {
    pollfd polled{watch.fd, watch.events, 0};
    if (::poll(&polled, 1, /*timeout=*/0) > 0) on_ready(watch.fd);
    if (finished()) return;
  }
}

void Run::on_time() {
  if (finished()) return;
  if (look_again_ && Clock::now() >= *look_again_) finish_launcher();
  if (finished() || !timer_ || Clock::now() < *timer_) return;
  take_what_has_come();
  if (finished() || !timer_ || Clock::now() < *timer_) return;
  const auto late = Clock::now() - *timer_;
  timer_.reset();
  // Before SIGTERM: what the program does in its grace is another matter.
  if (machine_.state() == RunState::running) {
    starvation_ = measure_starvation();
    if (starvation_) starvation_->late_us = microseconds_in(late);
  }
  perform(machine_.on(TimePassed{.init_stopped = init_stopped()}));
}

void Run::stop(Cause cause, const std::string& detail) {
  if (!finished())
    perform(machine_.on(StopRequested{.cause = cause, .at_once = false, .detail = detail}));
}

void Run::kill(Cause cause) {
  if (!finished()) perform(machine_.on(StopRequested{.cause = cause, .at_once = true}));
}

Result<void> Run::freeze() {
  if (machine_.state() != RunState::running)
    return fail(ErrorCode::invalid_request, "the run's program does not run");
  if (frozen_) return {};
  frozen_ = true;
  if (resources_.cgroup) {
    const auto frozen = resources_.cgroup->freeze();
    frozen_ = frozen.has_value();
    return frozen;
  }
  if (stopped_.stop_below(init_)) return {};
  thaw();
  return fail(ErrorCode::io, "the run forks faster than it can be stopped");
}

void Run::thaw() {
  if (!frozen_) return;
  frozen_ = false;
  if (resources_.cgroup) resources_.cgroup->thaw();
  stopped_.let_go();
}

// The launcher is left out, as it is in the run's result.
RunUsage Run::usage_now() {
  RunUsage usage = usage_below(spawned_.launcher);
  if (resources_.cgroup) {
    const CgroupUsage leaf = resources_.cgroup->usage();
    usage.cpu_us = std::max(usage.cpu_us, leaf.cpu_usage_us);
    usage.memory_bytes = leaf.memory_bytes.value_or(usage.memory_bytes);
  }
  // A process that ends while the others are looked at is missed in this pass.
  usage.cpu_us = std::max(usage.cpu_us, last_usage_.cpu_us);
  usage.written_bytes = std::max(usage.written_bytes, last_usage_.written_bytes);
  last_usage_ = usage;
  return usage;
}

void Run::read_control() {
  for (;;) {
    ControlMessage message;
    // Room for one descriptor: should more come, the kernel drops the rest.
    alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))];
    iovec part{&message, sizeof message};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = ancillary;
    header.msg_controllen = sizeof ancillary;
    const ssize_t count =
        ::recvmsg(spawned_.control.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count != sizeof message) {  // every process that could speak is gone
      return lost_control();
    }
    message.text[sizeof message.text - 1] = '\0';
    // The kernel says who sent it. Before the gate nothing foreign runs.
    Ancillary ancillary_data = ancillary_of(header);
    const pid_t sender = ancillary_data.sender;
    if (gate_opened_ && sender != spawned_.launcher && sender != init_) {
      perform(machine_.on(Forged{"process " + std::to_string(sender) +
                                 " sent a message that is paddock-launch's to send"}));
      continue;
    }
    if (!is_possible(message)) {
      perform(machine_.on(Forged{"paddock-launch said what cannot be"}));
      continue;
    }
    switch (message.kind) {
      case ControlKind::init_born:
        if (!is_warm_ || spawned_.launcher_pidfd) break;
        if (!ancillary_data.descriptor) return refuse_fork();
        spawned_.launcher = sender;
        spawned_.launcher_pidfd = std::move(ancillary_data.descriptor);
        marks_.launcher = mark_of(sender);
        // Killed before it was born: it can be now.
        if (machine_.state() == RunState::killing) kill_everything();
        break;
      case ControlKind::agent_ready:
        agent_ = sender;
        ready_ = message;
        perform(machine_.on(AgentReady{}));
        break;
      case ControlKind::agent_started:
        perform(machine_.on(AgentStarted{}));
        break;
      case ControlKind::exec_failed:
        ended_at_ = Clock::now();
        if (plan_.launch.workdir == sandbox_workspace && !gate_opened_) {
          // Its own directory is not there: this is no sandbox.
          perform(machine_.on(
              SetupFailed{std::string(message.text) + ": " + errno_text(message.error)}));
          break;
        }
        perform(machine_.on(ExecFailed{message.error, message.text}));
        break;
      case ControlKind::setup_failed:
        perform(
            machine_.on(SetupFailed{std::string(message.text) + ": " + errno_text(message.error)}));
        break;
      case ControlKind::agent_exited:
        if (!ended_at_) ended_at_ = Clock::now();
        perform(machine_.on(AgentExited{exit_of(message)}));
        break;
      case ControlKind::all_gone:
        usage_ = exit_of(message);
        // Inside bubblewrap the init says it too, of itself; the guard speaks for the whole run.
        if (sender == spawned_.launcher) note_proof(message);
        break;
      case ControlKind::wrapper_exited:
        perform(machine_.on(WrapperExited{ending_text(message)}));
        break;
      case ControlKind::open_gate:
      case ControlKind::terminate:
      case ControlKind::kill:
        break;  // ours to send
    }
    if (finished()) return;
  }
}

// The kernel drops a descriptor for which this process has no room, and what it cannot kill shall
// not run. It ends when its control socket is closed, before its gate.
void Run::refuse_fork() {
  retire(spawned_.control);
  perform(machine_.on(SetupFailed{"no descriptor is left for the init of the fork"}));
  if (!finished()) perform(machine_.on(LauncherExited{true}));
}

// A fork that was never born has nothing to reap: its zygote is gone, or could not make it.
void Run::lost_control() {
  retire(spawned_.control);
  if (!is_warm_ || spawned_.launcher > 0) return;
  perform(machine_.on(SetupFailed{"the zygote did not fork"}));
  if (!finished()) perform(machine_.on(LauncherExited{true}));
}

// A process that announced itself can be gone by now, and its pid be somebody else's. It is the
// agent's if it is below the launcher and has not ended after that was seen.
Result<void> Run::watch_agent() {
  agent_pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, agent_, 0)));
  if (!agent_pidfd_) return fail_errno("open a pidfd of the agent's process");
  errno = 0;
  const auto stat = stat_of(agent_);
  const bool is_ours = stat && is_in_tree(stat->parent, spawned_.launcher);
  if (!is_ours && errno != 0 && errno != ENOENT && errno != ESRCH)
    return fail_errno("look at the agent's process");
  if (!is_ours || has_ended(agent_pidfd_))
    return fail(ErrorCode::internal, "the agent's process is gone, or not the run's own");
  init_ = stat->parent;
  marks_.agent = mark_of(agent_, *stat);
  return {};
}

// The report can be there already: it is older than what is to be said of it.
void Run::note_end_of_agent() {
  if (spawned_.control) read_control();
  if (finished()) return;
  if (!ended_at_) ended_at_ = Clock::now();
  thaw();  // its init has something to say
  perform(machine_.on(AgentGone{}));
}

bool Run::init_stopped() const {
  if (machine_.state() != RunState::awaiting_report) return false;
  const auto stat = stat_of(init_);
  return stat && (stat->state == 'T' || stat->state == 't');
}

// The launcher is alone now: the numbers of its cgroup are read while it ends.
void Run::note_proof(const ControlMessage& message) {
  launcher_proved_ = true;
  left_network_alone_ = message.asked_for_socket == 0;
  if (resources_.cgroup) cgroup_usage_ = resources_.cgroup->usage();
}

// The launcher's last messages are older than its death: read them first.
void Run::reap_launcher() {
  if (spawned_.control) read_control();
  if (finished()) return;
  siginfo_t info{};
  const int reaped =
      ::waitid(P_PIDFD, static_cast<id_t>(spawned_.launcher_pidfd.get()), &info, WEXITED | WNOHANG);
  if (reaped == 0 && info.si_pid == 0) return;
  // ECHILD: the program around this library ignores SIGCHLD or reaps whatever it finds, and the
  // status is lost. Then what the launcher said last counts.
  if (reaped == 0) launcher_proved_ = info.si_code == CLD_EXITED && info.si_status == 0;
  // The init of a PID namespace has ended when all else in it has.
  if (is_warm_) launcher_proved_ = true;
  retire(spawned_.launcher_pidfd);
  launcher_gone_at_ = Clock::now();
  if (!ended_at_) ended_at_ = launcher_gone_at_;
  finish_launcher();
}

// Without the launcher's word, an empty cgroup is the proof. What cgroup.kill killed takes some
// milliseconds to leave it.
void Run::finish_launcher() {
  look_again_.reset();
  const bool empty_cgroup = resources_.cgroup && !resources_.cgroup->populated();
  if (resources_.cgroup && !launcher_proved_ && !empty_cgroup &&
      Clock::now() - *launcher_gone_at_ < kill_time_max) {
    resources_.cgroup->kill();
    look_again_ = Clock::now() + milliseconds(1);
    return;
  }
  perform(machine_.on(LauncherExited{launcher_proved_ || empty_cgroup}));
}

void Run::read_output(Fd& fd, OutputCapture& capture, Stream stream) {
  char buffer[65536];
  for (std::size_t total = 0; total < read_bytes_per_turn;) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      retire(fd);
      if (!spawned_.stdout_read && !spawned_.stderr_read) perform(machine_.on(OutputClosed{}));
      return;
    }
    total += static_cast<std::size_t>(count);
    const std::string_view bytes(buffer, static_cast<std::size_t>(count));
    if (!gate_opened_) {
      setup_messages_ += bytes.substr(0, setup_message_bytes_max - setup_messages_.size());
      continue;
    }
    capture.append(bytes);
    stop_a_flood();
    if (options_.on_output) options_.on_output(stream, bytes);
    if (output_paused_ && !ended_at_) return;  // from within on_output
  }
}

// The kernel's figures for the leaf count every process of the run, also those that are gone.
// Without a leaf, what /proc shows of the living has to do.
std::optional<Starvation> Run::measure_starvation() const {
  Starvation seen{.wall_us = microseconds_in(Clock::now() - *gate_opened_at_)};
  CgroupUsage leaf;
  if (resources_.cgroup) leaf = resources_.cgroup->usage();
  seen.throttled_us = leaf.throttled_us;
  const auto tree = cpu_of_tree(spawned_.launcher);
  seen.gives_way = tree && tree->gives_way;
  if (leaf.cpu_waited_us) {
    seen.cpu_used_us = leaf.cpu_usage_us;
    seen.waited_us = *leaf.cpu_waited_us;
    return seen;
  }
  if (!tree) return std::nullopt;
  seen.cpu_used_us = std::max(tree->used_us, leaf.cpu_usage_us);
  seen.waited_us = tree->longest_wait_us;
  return seen;
}

// A run that ended before it could be stopped is told by classify(), which sees the same numbers.
void Run::stop_a_flood() {
  if (machine_.state() != RunState::running || !plan_.output_stop_bytes) return;
  if (stdout_.total_bytes() + stderr_.total_bytes() <= *plan_.output_stop_bytes) return;
  perform(machine_.on(StopRequested{.cause = Cause::output_limit, .detail = output_limit_detail}));
}

void Run::retire(Fd& fd) {
  retired_.push_back(std::move(fd));
  fd = Fd();
}

// ---- Standard input ----------------------------------------------------------------------------

void Run::write_stdin(std::string_view bytes) {
  if (!spawned_.stdin_write || stdin_closing_) return;
  stdin_bytes_.erase(0, stdin_written_);
  stdin_written_ = 0;
  stdin_bytes_ += bytes;
}

void Run::close_stdin() {
  stdin_closing_ = true;
}

void Run::feed_stdin() {
  while (stdin_pending_bytes() > 0) {
    const ssize_t count = write_without_sigpipe(
        spawned_.stdin_write, std::string_view(stdin_bytes_).substr(stdin_written_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) {  // EPIPE: the agent does not read it, which is its right
      retire(spawned_.stdin_write);
      return;
    }
    stdin_written_ += static_cast<std::size_t>(count);
  }
  if (stdin_closing_) retire(spawned_.stdin_write);
}

}  // namespace paddock::kernel
