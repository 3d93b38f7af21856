#include "escapes/runner/rows.hpp"

namespace paddock::escapes {

Group privilege_rows() {
  constexpr std::string_view own_children = "a run may debug its own processes";
  const auto once = Scenario::report;
  const auto no = stopped({"EPERM", "EACCES"});
  const auto no_call = stopped({"EPERM", "ENOSYS"});
  const auto no_id = stopped({"EPERM", "EINVAL"});
  const auto no_namespace = stopped({"EPERM", "ENOSPC"});
  const auto no_key = stopped({"EPERM", "ENOSYS", "ENOKEY", "EACCES"});
  const auto no_terminal_call = stopped({"EPERM"});
  const auto row = [](std::string_view name, const Expectation& both) {
    return Row{name, both, both};
  };
  return {
      "privilege",
      {
          row("priv_am_i_root", no),
          row("priv_hold_effective", no),
          row("priv_caps_all_zero", no),
          row("priv_capset_raise", no),
          row("priv_ambient_raise", no),
          row("priv_nnp", no),
          row("priv_securebits", no),
          {"priv_setuid_binary", no, no, once, {"EPERM"}},
          {"priv_filecap_binary", no, no, once, {"EPERM"}},
          row("priv_setuid_root", no_id),
          row("priv_setuid_other", no_id),
          row("priv_setgid_root", no_id),
          row("priv_setgroups", no),
          row("priv_chown", no_id),
          row("priv_userns_nested", no_namespace),
          row("priv_userns_clone", no_namespace),
          row("priv_userns_clone3", stopped({"ENOSYS", "EPERM"})),
          row("priv_uid_map_rewrite", no_namespace),
          row("priv_unshare_mount", no),
          row("priv_unshare_pid", no),
          row("priv_unshare_net", no),
          row("priv_unshare_ipc", no),
          row("priv_unshare_uts", no),
          row("priv_unshare_cgroup", no),
          row("priv_setns_proc", no),
          row("priv_setns_parent", no),
          {"priv_setns_pidfd", no, stopped({"ESRCH", "EPERM"})},
          {"priv_ptrace_child", open(own_children), no_call},
          row("priv_kcmp", no_call),
          row("priv_key_of_supervisor", no_key),
          row("priv_add_key", no_call),
          row("priv_keyctl_session", no_call),
          row("priv_keyctl_persistent", no_call),
          row("priv_session_to_parent", no_call),
          row("priv_tiocsti_without_terminal", no_terminal_call),
          row("priv_tiocsti_without_terminal_high_bits", no_terminal_call),
          {"priv_tiocsti", no, no, once, {"EIO"}},
          {"priv_tiocsti_high_bits", no, no, once, {"EIO"}},
          row("priv_tioclinux", no_terminal_call),
          row("priv_tiocsetd", no_terminal_call),
          row("priv_tioccons", no_terminal_call),
          row("priv_sethostname", no),
          row("priv_setdomainname", no),
          row("priv_adjust_clock", no),
          row("priv_iopl", no_call),
          row("priv_ioperm", no_call),
          row("priv_syslog", no_call),
          row("priv_reboot", no_call),
          row("priv_swapon", no_call),
          row("priv_acct", no_call),
          row("priv_quotactl", no_call),
      },
  };
}

}  // namespace paddock::escapes
