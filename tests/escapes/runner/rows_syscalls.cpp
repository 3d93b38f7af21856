#include "escapes/runner/rows.hpp"

namespace paddock::escapes {

Group syscall_rows() {
  constexpr std::string_view self_only = "DEFAULT lets a run change what concerns itself alone";
  constexpr std::string_view weakens_itself = "a program weakens nobody but itself by it";
  constexpr std::string_view unlisted =
      "DEFAULT's filter names what is dangerous; this call is not known to be";
  constexpr std::string_view only_less = "a further filter or domain can only take away";
  constexpr std::string_view any_program = "a run may execute whatever it can write";
  const auto once = Scenario::report;
  const auto no_call = stopped({"EPERM", "ENOSYS"});
  const auto killed = stopped({"SIGSYS"});
  const auto row = [](std::string_view name, const Expectation& both) {
    return Row{name, both, both};
  };
  const auto unlisted_row = [&](std::string_view name) {
    return Row{name, open(unlisted), no_call};
  };
  const auto self_row = [&](std::string_view name) { return Row{name, open(self_only), no_call}; };
  return {
      "system calls",
      {
          {"sys_int80", stopped({"SIGSYS", "ENOSYS", "EPERM"}), killed},
          {"sys_x32", stopped({"SIGSYS", "ENOSYS", "EPERM"}), killed},
          row("sys_without_filter", stopped({"filtered"})),
          row("sys_clone3", stopped({"ENOSYS"})),
          row("sys_iouring", stopped({"ENOSYS"})),
          row("sys_iouring_enter", stopped({"ENOSYS"})),
          row("sys_iouring_register", stopped({"ENOSYS"})),
          row("sys_filter_on_all_threads", stopped({"ENOSYS"})),
          row("sys_filter_after_execve", stopped({"ENOSYS"})),
          row("sys_filter_in_children", stopped({"ENOSYS"})),
          row("sys_userfaultfd", no_call),
          row("sys_bpf", no_call),
          row("sys_perf", stopped({"EPERM", "EACCES", "ENOSYS"})),
          row("sys_mount", no_call),
          row("sys_umount", no_call),
          row("sys_fsopen", no_call),
          row("sys_fsconfig", no_call),
          row("sys_fsmount", no_call),
          row("sys_fspick", no_call),
          row("sys_open_tree", no_call),
          row("sys_open_tree_attr", no_call),
          row("sys_move_mount", no_call),
          row("sys_mount_setattr", no_call),
          row("sys_statmount", no_call),
          row("sys_listmount", no_call),
          row("sys_pivot_root", no_call),
          row("sys_chroot", no_call),
          {"sys_kexec_load", no_call, killed},
          row("sys_kexec_file_load", stopped({"EPERM", "ENOSYS", "SIGSYS"})),
          {"sys_init_module", no_call, killed},
          {"sys_finit_module", no_call, killed},
          row("sys_delete_module", no_call),
          row("sys_personality_read_implies_exec", no_call),
          {"sys_personality_no_randomize", open(self_only), open(weakens_itself)},
          row("sys_modify_ldt", no_call),
          {"sys_memfd_exec", open(any_program), open(any_program)},
          row("sys_memfd_secret", no_call),
          {"sys_seccomp_new_listener", open(only_less), stopped({"EPERM", "ENOSYS", "EBUSY"})},
          {"sys_seccomp_own_filter", open(only_less), open(only_less)},
          {"sys_landlock_nest", open(only_less), open(only_less)},
          row("sys_openat2", stopped({"ENOSYS"})),
          row("sys_pidfd_getfd", no_call),
          row("sys_process_vm_readv", no_call),
          row("sys_process_vm_writev", no_call),
          unlisted_row("sys_process_madvise"),
          unlisted_row("sys_process_mrelease"),
          row("sys_kcmp_self", no_call),
          {"sys_ptrace_traceme", open(self_only), no_call},
          row("sys_lookup_dcookie", no_call),
          row("sys_fanotify_init", no_call),
          row("sys_add_key", no_call),
          row("sys_request_key", no_call),
          row("sys_keyctl", no_call),
          row("sys_move_pages", no_call),
          row("sys_migrate_pages", no_call),
          {"sys_set_mempolicy", open(self_only), no_call},
          unlisted_row("sys_set_mempolicy_home_node"),
          unlisted_row("sys_lsm_list_modules"),
          unlisted_row("sys_sysfs"),
          unlisted_row("sys_ustat"),
          unlisted_row("sys_remap_file_pages"),
          row("sys_quotactl_fd", no_call),
          row("sys_clock_settime", no_call),
          row("sys_settimeofday", no_call),
          self_row("sys_prctl_set_mm"),
          self_row("sys_prctl_set_ptracer"),
          self_row("sys_prctl_tsc"),
          self_row("sys_prctl_dispatch"),
          {"sys_prctl_sched_core", open(self_only), no_call, once, {"EINVAL", "ENODEV"}},
          self_row("sys_prctl_speculation"),
      },
  };
}

}  // namespace paddock::escapes
