#include "escapes/runner/rows.hpp"

namespace paddock::escapes {

Group process_rows() {
  constexpr std::string_view same_user =
      "a run's init has the run's user, who may slow it down; the wall clock is not kept by it";
  constexpr std::string_view one_load = "the kernel shows one load for the whole host";
  constexpr std::string_view self_only = "DEFAULT lets a run change what concerns itself alone";
  const auto once = Scenario::report;
  const auto no = stopped({"EACCES", "EPERM"});
  const ByUser not_yours{no, stopped({"EACCES", "EPERM"}, Need::landlock)};
  const auto not_there = stopped({"ENOENT"});
  const auto no_peer = stopped({"ENOENT", "EACCES", "EPERM"});
  const auto no_call = stopped({"EPERM", "ENOSYS"});
  const auto no_peer_call = stopped({"ESRCH", "EPERM", "ENOSYS"});
  const auto empty = stopped({"ENODATA", "EACCES", "EPERM", "ENOENT"});
  const auto no_sysctl = stopped({"EACCES", "EROFS", "EPERM", "ENOENT"});
  const auto shown = open(reason::host_processes);
  return {
      "processes and /proc",
      {
          {"proc1_environ", no, no},
          {"proc1_environ_secret", no_peer, no_peer},
          {"proc1_cmdline_paths", shown, no_peer},
          {"proc1_mem_write", no, no},
          {"proc1_maps", no, no},
          {"proc1_auxv", no, no},
          {"proc1_exe", no, no},
          {"proc1_cwd", no, no},
          {"proc1_root_walk", no, no},
          {"proc1_fd_list", no, no},
          {"proc1_fd_open", no, no},
          {"proc1_fd_steal", no_call, no_call},
          {"proc1_ptrace", no_call, no_call},
          {"proc1_process_vm", no_call, no_call},
          {"proc1_prlimit", no_call, no_call},
          {"proc1_oom_score", no, no},
          {"proc1_namespaces", no, no},
          {"proc1_renice", open(same_user), open(same_user)},
          {"proc1_affinity", open(same_user), open(same_user)},
          {"proc_victim_environ", not_yours, not_there},
          {"proc_victim_mem", not_yours, not_there},
          {"proc_victim_root", not_yours, not_there},
          {"proc_victim_cwd", not_yours, not_there},
          {"proc_victim_fd", not_yours, not_there},
          {"proc_other_pids_hidden", shown, not_there},
          {"priv_ptrace_peer", not_yours, no_peer_call},
          {"priv_process_vm", no_call, no_peer_call},
          {"priv_pidfd_getfd", no_call, no_peer_call},
          {"priv_prlimit_peer", no_call, no_peer_call},
          {"priv_pidfd_open_peer", shown, no_peer_call},
          {"proc_keys", shown, empty, once, {"ENOENT"}},
          {"proc_key_users", shown, empty, once, {"ENOENT"}},
          {"proc_kallsyms", shown, empty, once, {"ENODATA"}},
          {"proc_iomem", shown, empty, once, {"ENODATA"}},
          {"proc_config", shown, empty, once, {"ENOENT"}},
          {"proc_cmdline", shown, empty},
          {"proc_interrupts", shown, empty},
          {"proc_timer_list", no, empty, once, {"ENOENT"}},
          {"proc_modules", shown, empty, once, {"ENOENT", "ENODATA"}},
          {"proc_slabinfo", no, empty, once, {"ENOENT"}},
          {"proc_vmallocinfo", no, empty},
          {"proc_kcore", no, stopped({"EACCES", "EPERM", "ENOENT"}), once, {"ENOENT", "EPERM"}},
          {"proc_kmsg", no, stopped({"EACCES", "EPERM", "ENOENT"}), once, {"ENOENT"}},
          {"proc_kpagecount", no, empty, once, {"ENOENT"}},
          {"proc_sysrq", no, no_sysctl, once, {"ENOENT"}},
          {"proc_core_pattern_write", no, no_sysctl},
          {"proc_modprobe_write", no, no_sysctl, once, {"ENOENT"}},
          {"proc_sys_user_max_ns", no, no_sysctl},
          {"proc_sys_hostname_write", no, no_sysctl},
          {"proc_sys_ip_forward_write", no, no_sysctl},
          {"proc_mountinfo_host_paths", shown, empty, once, {"ENODATA"}},
          {"proc_locks_leak", shown, empty},
          {"proc_net_unix", open(reason::host_network), empty},
          {"proc_sysvipc_shm", open(reason::host_ipc), empty, once, {"ENOENT"}},
          {"proc_self_write", open(self_only), stopped({"EACCES"}, Need::landlock)},
          {"proc_loadavg", shown, open(one_load)},
          {"sys_absent", shown, not_there, once, {"ENOENT"}},
          {"sys_cgroup_absent", shown, not_there, once, {"ENOENT"}},
          {"sys_power_write", no, not_there, once, {"ENOENT"}},
      },
  };
}

}  // namespace paddock::escapes
