#include "escapes/runner/rows.hpp"

namespace paddock::escapes {
namespace {

// Attempts on memory take 384 MiB: 1.5 times this.
void tighten_memory(kernel::SandboxPolicy& policy) {
  policy.cgroup.memory_max = 256u << 20;
}

void tighten_cpu(kernel::SandboxPolicy& policy) {
  policy.cpu_seconds = 1;
}

}  // namespace

Group resource_rows() {
  constexpr std::string_view per_user =
      "counted per host user; started as root, each run has a user of its own";
  constexpr std::string_view bounded_queues = "bounded by RLIMIT_MSGQUEUE";
  const auto once = Scenario::report;
  const auto no_process = stopped({"EAGAIN", "pids_limit"});
  const auto no_memory = stopped({"ENOMEM"});
  const auto no_total = stopped({"memory_limit", "ENOMEM", "ENOSPC", "SIGKILL", "EPERM", "ENOSYS"},
                                Need::memory_cgroup);
  const auto no_privilege = stopped({"EPERM", "EACCES"});
  const auto cpu = stopped({"cpu_limit"});
  const auto row = [](std::string_view name, const Expectation& both) {
    return Row{name, both, both};
  };
  return {
      "resources",
      {
          row("res_fork_bomb", no_process),
          row("res_zombie_bomb", no_process),
          row("res_session_bomb", no_process),
          {"res_thread_bomb", no_process, stopped({"EAGAIN", "ENOMEM", "pids_limit"})},
          row("res_mem_hog", no_memory),
          {"res_mem_in_children", no_total, no_total, once, {}, tighten_memory},
          {"res_oom_child_only", no_total, no_total, once, {}, tighten_memory},
          {"res_mem_via_memfd", no_total, no_total, once, {}, tighten_memory},
          {"res_sysv_shm", no_total, no_total, once, {}, tighten_memory},
          row("res_mem_via_pipe_bufs", stopped({"EPERM", "ENOMEM", "EMFILE", "memory_limit"})),
          {"res_posix_mq", open(reason::host_ipc), open(bounded_queues)},
          {"res_mlock",
           stopped({"ENOMEM", "EPERM", "EAGAIN"}),
           stopped({"ENOMEM", "EPERM", "EAGAIN"}),
           once,
           {"ENOMEM", "EAGAIN"}},
          {"res_cpu_spin", cpu, cpu, once, {}, tighten_cpu},
          {"res_cpu_sigxcpu_ignored", cpu, cpu, once, {}, tighten_cpu},
          row("res_fd_exhaust", stopped({"EMFILE"})),
          {"res_inotify_exhaust", open(per_user), open(per_user), once, {"EMFILE"}},
          row("res_inflight_fds", stopped({"ETOOMANYREFS"})),
          row("res_core_dump", stopped({"ENODATA"})),
          row("res_stdout_flood", stopped({"truncated", "output_limit"})),
          row("res_rt_prio", no_privilege),
          row("res_round_robin", no_privilege),
          row("res_nice_negative", no_privilege),
          row("res_ioprio_realtime", no_privilege),
          // Not even root may go above fs.nr_open.
          {"res_raise_nofile", no_privilege, no_privilege, once, {"EPERM"}},
          row("res_raise_core", no_privilege),
          row("res_raise_nproc", no_privilege),
          row("res_raise_as", no_privilege),
          row("res_raise_cpu", no_privilege),
          row("res_raise_fsize", no_privilege),
          row("res_oom_score", no_privilege),
      },
  };
}

}  // namespace paddock::escapes
