#include "breakage/controls.hpp"

namespace paddock::breakage {

// A control that another one covers is broken where it is not covered: bubblewrap sets no_new_privs
// and drops capabilities by itself, so those of paddock-launch are broken under DEFAULT.
const std::vector<Control>& all_controls() {
  using enum CaughtBy;
  static const std::vector<Control> controls = {
      {"rlimit_cpu_seconds", "STRICT", receipt, "cpu_seconds is unlimited, planned 120"},
      {"rlimit_memory_bytes", "STRICT", receipt, "memory_bytes is unlimited, planned"},
      {"rlimit_fsize_bytes", "STRICT", receipt, "fsize_bytes is unlimited, planned"},
      {"rlimit_nproc", "STRICT", receipt, "nproc is"},
      {"rlimit_nofile", "STRICT", receipt, "nofile is"},
      {"rlimit_core_size", "STRICT", receipt, "core_size is"},
      {"rlimit_nice", "STRICT", receipt, "nice is 10, planned 0", Needs::priority},
      {"rlimit_rtprio", "STRICT", receipt, "rtprio is 10, planned 0", Needs::priority},
      {"own_user_namespace", "DEFAULT", receipt, "the list of new namespaces is , planned user"},
      {"no_new_privs", "DEFAULT", setup, "enter the Landlock domain: Operation not permitted"},
      {"capabilities", "DEFAULT", receipt, "the set of capabilities is"},
      {"bounding_set", "DEFAULT", receipt, "the bounding set of capabilities is"},
      {"new_session", "STRICT", receipt, "the agent does not lead a session of its own"},
      {"close_range", "STRICT", receipt, "the list of inherited descriptors is 0 1 2 3"},
      {"umask", "STRICT", receipt, "the umask is"},
      {"signal_mask", "STRICT", receipt, "the set of blocked or ignored signals is"},
      {"signal_dispositions", "STRICT", receipt, "the set of blocked or ignored signals is"},
      {"environment", "STRICT", escape, "env_secrets_absent"},
      {"oom_score", "STRICT", receipt, "oom_score_adj is 0, planned 500"},
      {"session_keyring", "STRICT", receipt, "the supervisor's session keyring", Needs::keyrings},
      {"parent_death_signal", "STRICT", receipt, "no parent-death signal"},
      {"landlock", "STRICT", receipt, "Landlock did not refuse to open a file", Needs::landlock},
      {"landlock_rules", "STRICT", receipt, "Landlock did not refuse to open a file",
       Needs::landlock},
      {"landlock_scope", "STRICT", receipt, "Landlock did not refuse a signal",
       Needs::signal_scope},
      {"seccomp", "STRICT", receipt, "the number of system call filters is 0, planned 1"},
      {"seccomp_empty", "STRICT", escape, "sys_modify_ldt"},
      {"namespace_pid", "STRICT", setup, "--as-pid-1 requires --unshare-pid"},
      {"namespace_net", "STRICT", receipt, "the list of new namespaces is"},
      {"namespace_ipc", "STRICT", receipt, "the list of new namespaces is"},
      {"namespace_uts", "STRICT", setup, "--hostname requires --unshare-uts"},
      {"namespace_cgroup", "STRICT", receipt, "the list of new namespaces is"},
      {"namespace_user", "STRICT", setup, "--disable-userns requires --unshare-user"},
      {"disable_userns", "STRICT", receipt, "can make a user namespace"},
      {"read_only_usr", "STRICT", receipt, "the mount is 'rw /usr', planned 'ro /usr'"},
      {"read_only_root", "STRICT", receipt, "the mount is 'rw /'"},
      {"read_only_dev", "STRICT", receipt, "the mount is 'rw /dev'"},
      {"proc_masks", "STRICT", receipt, "nothing is mounted at '/proc/k"},
      {"sized_tmpfs", "STRICT", receipt, "planned 'rw /dev/shm 64MiB'"},
      {"bound_path", "STRICT", receipt, "is not the file that was there at the start"},
      {"host_uid", "STRICT", receipt, "the host uid is 0, planned", Needs::root},
      {"setresuid", "STRICT", setup, "setting up uid map", Needs::root},
      {"setresgid", "STRICT", receipt, "the host gid is 0, planned", Needs::root},
      {"setgroups", "STRICT", receipt, "the list of groups is", Needs::root},
      {"cgroup", "STRICT", receipt, "the cgroup is", Needs::cgroup},
      {"memory.max", "STRICT", receipt, "memory.max is max, planned", Needs::controllers},
      {"memory.swap.max", "STRICT", receipt, "memory.swap.max is max, planned 0",
       Needs::controllers},
      {"memory.oom.group", "STRICT", receipt, "memory.oom.group is 0, planned 1",
       Needs::controllers},
      {"pids.max", "STRICT", receipt, "pids.max is max, planned", Needs::controllers},
      {"cpu.max", "STRICT", receipt, "cpu.max is max 100000, planned", Needs::controllers},
      {"gate", "STRICT", receipt, "the program at the gate is", Needs::nothing, false,
       "life_sleep_for_ever"},
      {"not_dumpable", "STRICT", receipt, "the agent's user can trace its init"},
      {"subreaper", "DEFAULT", escape, "life_double_fork", Needs::nothing, true},
      {"survivors", "DEFAULT", escape, "life_setsid_daemon", Needs::nothing, true},
      {"wall_clock", "STRICT", test, "a run that sleeps is ended at its deadline*"},
      {"term", "STRICT", test, "SIGTERM reaches the whole process group of the program"},
      {"kill_after_grace", "STRICT", escape, "life_ignore_sigterm", Needs::nothing, true},
      // Forks of a zygote, which has its umask and no_new_privs already.
      {"rlimit_cpu_seconds", "STRICT", receipt, "cpu_seconds is unlimited, planned 120",
       Needs::nothing, false, "env_umask", true},
      {"rlimit_memory_bytes", "STRICT", receipt, "memory_bytes is unlimited, planned",
       Needs::nothing, false, "env_umask", true},
      {"rlimit_fsize_bytes", "STRICT", receipt, "fsize_bytes is unlimited, planned", Needs::nothing,
       false, "env_umask", true},
      {"rlimit_nproc", "STRICT", receipt, "nproc is", Needs::nothing, false, "env_umask", true},
      {"rlimit_nofile", "STRICT", receipt, "nofile is", Needs::nothing, false, "env_umask", true},
      {"capabilities", "STRICT", receipt, "the set of capabilities is", Needs::nothing, false,
       "env_umask", true},
      {"bounding_set", "STRICT", receipt, "the bounding set of capabilities is", Needs::nothing,
       false, "env_umask", true},
      {"new_session", "STRICT", receipt, "the agent does not lead a session", Needs::nothing, false,
       "env_umask", true},
      {"close_range", "STRICT", receipt, "the list of inherited descriptors is", Needs::nothing,
       false, "env_umask", true},
      {"signal_mask", "STRICT", receipt, "the set of blocked or ignored signals is", Needs::nothing,
       false, "env_umask", true},
      {"session_keyring", "STRICT", receipt, "session keyring, or its zygote's", Needs::keyrings,
       false, "env_umask", true},
      {"parent_death_signal", "STRICT", receipt, "no parent-death signal", Needs::nothing, false,
       "env_umask", true},
      {"landlock", "STRICT", receipt, "Landlock did not refuse to open a file", Needs::landlock,
       false, "env_umask", true},
      {"landlock_rules", "STRICT", receipt, "Landlock did not refuse to open a file",
       Needs::landlock, false, "env_umask", true},
      {"landlock_scope", "STRICT", receipt, "Landlock did not refuse a signal", Needs::signal_scope,
       false, "env_umask", true},
      {"seccomp", "STRICT", receipt, "the number of system call filters is", Needs::nothing, false,
       "env_umask", true},
      {"watch_sockets", "STRICT", receipt, "the number of system call filters is 1, planned 2",
       Needs::nothing, false, "env_umask", true},
      {"namespace_ipc", "STRICT", receipt, "the ipc namespace is the zygote's", Needs::nothing,
       false, "env_umask", true},
      {"namespace_uts", "STRICT", receipt, "the uts namespace is the zygote's", Needs::nothing,
       false, "env_umask", true},
      {"namespace_cgroup", "STRICT", receipt, "the cgroup namespace is the zygote's",
       Needs::nothing, false, "env_umask", true},
      {"fork_namespace_net", "STRICT", receipt, "the net namespace is the zygote's", Needs::nothing,
       false, "env_umask", true},
      {"disable_userns", "STRICT", receipt, "can make a user namespace", Needs::nothing, false,
       "env_umask", true},
      {"fresh_proc", "STRICT", receipt, "the mount at '/proc' is the zygote's", Needs::nothing,
       false, "env_umask", true},
      {"fresh_pts", "STRICT", receipt, "the mount at '/dev/pts' is the zygote's", Needs::nothing,
       false, "env_umask", true},
      {"fresh_shm", "STRICT", receipt, "nothing is mounted at '/dev/shm'", Needs::nothing, false,
       "env_umask", true},
      {"fresh_tmp", "STRICT", receipt, "nothing is mounted at '/tmp'", Needs::nothing, false,
       "env_umask", true},
      {"fresh_home", "STRICT", receipt, "nothing is mounted at '/home/agent'", Needs::nothing,
       false, "env_umask", true},
      {"fresh_workspace", "STRICT", receipt, "nothing is mounted at '/workspace'", Needs::nothing,
       false, "env_umask", true},
      {"fresh_covers", "STRICT", receipt, "nothing is mounted at '/proc/k", Needs::nothing, false,
       "env_umask", true},
      {"fresh_sizes", "STRICT", receipt, "planned 'rw /dev/shm 64MiB'", Needs::nothing, false,
       "env_umask", true},
      {"gate", "STRICT", receipt, "the program at the gate is", Needs::nothing, false,
       "life_sleep_for_ever", true},
      {"not_dumpable", "STRICT", receipt, "can trace its init", Needs::nothing, false, "env_umask",
       true},
      {"cgroup", "STRICT", receipt, "the cgroup is", Needs::cgroup, false, "env_umask", true},
      {"seccomp_empty", "STRICT", escape, "sys_modify_ldt", Needs::nothing, false, "env_umask",
       true},
      {"namespace_user", "STRICT", setup, "did not fork", Needs::nothing, false, "env_umask", true},
      {"namespace_pid", "STRICT", setup, "mount /proc", Needs::nothing, false, "env_umask", true},
      {"namespace_mnt", "STRICT", setup, "mount /proc", Needs::nothing, false, "env_umask", true},
  };
  return controls;
}

const std::vector<Step>& all_steps() {
  static const std::vector<Step> steps = {
      {"clone3", "STRICT", "clone3"},
      {"setgroups", "STRICT", "setgroups", Needs::root},
      {"setresgid", "STRICT", "setresgid", Needs::root},
      {"setresuid", "STRICT", "setresuid", Needs::root},
      {"child.close_range", "STRICT", "close_range"},
      {"child.execveat", "STRICT", "execute paddock-launch"},
      {"sigprocmask", "STRICT", "block signals"},
      {"subreaper", "STRICT", "become a subreaper"},
      {"not_dumpable", "STRICT", "become unreadable"},
      {"execve", "STRICT", "execute bwrap"},
      {"dup2", "STRICT", "release the standard streams"},
      {"signalfd", "STRICT", "signalfd"},
      {"pipe2", "STRICT", "pipe2"},
      {"fork", "STRICT", "fork"},
      {"parent_death_signal", "STRICT", "set parent-death signal"},
      {"setsid", "STRICT", "setsid"},
      {"prlimit64", "STRICT", "set an rlimit"},
      {"capget", "STRICT", "capget"},
      {"ambient", "STRICT", "clear ambient capabilities"},
      {"capset", "STRICT", "capset"},
      {"no_new_privs", "STRICT", "set no_new_privs"},
      {"dumpable", "STRICT", "become readable"},
      {"close_range", "STRICT", "close_range"},
      {"landlock_create_ruleset", "STRICT", "create a Landlock ruleset", Needs::landlock},
      {"landlock_add_rule", "STRICT", "add a Landlock rule", Needs::landlock},
      {"landlock_restrict_self", "STRICT", "enter the Landlock domain", Needs::landlock},
      {"seccomp", "STRICT", "load the system call filter"},
  };
  return steps;
}

std::string_view name_of(CaughtBy caught_by) {
  switch (caught_by) {
    case CaughtBy::setup:
      return "setup";
    case CaughtBy::receipt:
      return "receipt";
    case CaughtBy::escape:
      return "escape";
    case CaughtBy::test:
      return "test";
  }
  return "";
}

std::string_view missing(Needs needs) {
  switch (needs) {
    case Needs::nothing:
      return "";
    case Needs::root:
      return "only root gives a run a uid of its own";
    case Needs::priority:
      return "only a process with CAP_SYS_RESOURCE has a priority to pass on";
    case Needs::landlock:
      return "this kernel has no Landlock";
    case Needs::signal_scope:
      return "this kernel's Landlock is older than ABI 6";
    case Needs::keyrings:
      return "no session keyring here";
    case Needs::cgroup:
      return "no cgroup v2 hierarchy that this process may write to";
    case Needs::controllers:
      return "cgroup v2 has no memory, pids and cpu controllers here";
  }
  return "";
}

}  // namespace paddock::breakage
