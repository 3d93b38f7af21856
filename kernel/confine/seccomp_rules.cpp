#include "kernel/confine/seccomp_rules.hpp"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <initializer_list>

namespace paddock::kernel {
namespace {

using Names = std::vector<std::string_view>;
using Values = std::initializer_list<std::uint64_t>;

// The kernel takes most arguments as 32-bit values and ignores what a caller left in the upper half
// of the register. A comparison of all 64 bits would let TIOCSTI | 1 << 32 pass (CVE-2019-10063).
constexpr std::uint64_t lower_half = 0xffffffff;

ArgumentTest is(unsigned argument, std::uint64_t value) {
  return {ArgumentTest::Kind::masked_equal, argument, lower_half, value};
}
ArgumentTest masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {ArgumentTest::Kind::masked_equal, argument, mask, value};
}
ArgumentTest has_none_of(unsigned argument, std::uint64_t bits) {
  return masked(argument, bits, 0);
}
ArgumentTest at_most(unsigned argument, std::uint64_t value) {
  return {ArgumentTest::Kind::at_most, argument, 0, value};
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// ---- the never-list: refused under both lists ----

std::vector<Denial> never() {
  std::vector<Denial> rows = {
      // Calls that older kernels lack: who uses them goes another way at ENOSYS, and gives up at
      // EPERM.
      {SeccompAction::no_such_call,
       {
           "clone3",   // its flags are in memory, where a filter cannot see a CLONE_NEWUSER
           "openat2",  // likewise its mode: S_ISUID
           "io_uring_setup", "io_uring_enter", "io_uring_register",  // a way around every filter
           "userfaultfd",   // stops the kernel in the middle of a copy: every exploit's helper
           "memfd_secret",  // memory that nobody can look into
           "process_vm_readv", "process_vm_writev",  // another process's memory
           "pidfd_getfd",                            // another process's descriptors
           "statmount", "listmount",                 // the host's mounts
       }},
      // A namespace of one's own comes with every capability in it, and most of the kernel's
      // privilege bugs begin there. clone is among the bounded calls.
      {SeccompAction::not_permitted, {"unshare", "setns"}},
      // Mounting, by all of its interfaces.
      {SeccompAction::not_permitted,
       {"mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick",
        "move_mount", "open_tree", "open_tree_attr", "mount_setattr"}},
      // Whom it concerns has the capability, and no run has it.
      {SeccompAction::not_permitted,
       {"reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "settimeofday",
        "clock_settime", "sethostname", "setdomainname", "iopl", "ioperm", "vhangup", "nfsservctl",
        "uselib", "delete_module"}},
      // Large or old pieces of the kernel that no program of a run needs.
      {SeccompAction::not_permitted,
       {"bpf", "perf_event_open", "fanotify_init", "lookup_dcookie", "modify_ldt"}},
      // Keyrings belong to the user, not to the namespace: they reach across runs.
      {SeccompAction::not_permitted, {"keyctl", "add_key", "request_key"}},
      // Other processes: compare their kernel objects, move their memory.
      {SeccompAction::not_permitted, {"kcmp", "move_pages", "migrate_pages"}},
      // File handles open what no path leads to any more.
      {SeccompAction::not_permitted, {"name_to_handle_at"}},
  };
  // Input that the terminal's owner seems to have typed (TIOCSTI, and TIOCLINUX's paste), the
  // console's output, and line disciplines, which load a module each.
  for (const std::uint64_t command : Values{TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD})
    rows.push_back({SeccompAction::not_permitted, {"ioctl"}, {is(1, command)}});
  return rows;
}

// No program asks for these by accident. STRICT kills for them, DEFAULT refuses.
Names tripwires() {
  return {"kexec_load", "kexec_file_load", "init_module", "finit_module", "open_by_handle_at"};
}

// ---- calls that are allowed with some arguments ----

std::vector<Bound> bounded_everywhere() {
  constexpr std::uint64_t new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                           CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                           CLONE_NEWNET | CLONE_NEWTIME;
  constexpr std::uint64_t set_id = S_ISUID | S_ISGID;
  constexpr std::uint64_t creates = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
  constexpr std::uint64_t kind_and_set_id = S_IFMT | set_id;

  const auto without_set_id = [](unsigned mode) {
    return std::vector<ArgumentTests>{{has_none_of(mode, set_id)}};
  };
  // Without one of those flags the kernel ignores the mode, and a caller may leave anything there.
  const auto opens = [](unsigned flags) {
    return std::vector<ArgumentTests>{{has_none_of(flags + 1, set_id)},
                                      {has_none_of(flags, creates)}};
  };
  // Files, FIFOs and sockets (kind 0 is a file too): no device nodes.
  const auto makes_node = [](unsigned mode) {
    std::vector<ArgumentTests> kinds;
    for (const std::uint64_t kind : Values{0, S_IFREG, S_IFIFO, S_IFSOCK})
      kinds.push_back({masked(mode, kind_and_set_id, kind)});
    return kinds;
  };

  return {
      {{"clone"}, {{has_none_of(0, new_namespaces)}}},
      // A set-id file outlives the run, and runs with the uid of whoever had it. The mask cannot
      // tell a directory, so `git init --shared` fails.
      {{"chmod", "fchmod", "creat"}, without_set_id(1)},
      {{"fchmodat", "fchmodat2"}, without_set_id(2)},
      {{"open"}, opens(1)},
      {{"openat"}, opens(2)},
      {{"mknod"}, makes_node(1)},
      {{"mknodat"}, makes_node(2)},
      // Its own limits, which are hard; those of another process of the same uid are not its own.
      {{"prlimit64"}, {{is(0, 0)}}},
      // Read it, be native, be without address randomization: sanitizers execute themselves anew
      // so when they dislike a layout, and a program weakens nobody but itself by that. Not
      // READ_IMPLIES_EXEC and MMAP_PAGE_ZERO.
      {{"personality"}, {{is(0, 0)}, {is(0, lower_half)}, {is(0, ADDR_NO_RANDOMIZE)}}},
  };
}

// Each further family is a protocol that the kernel loads for whoever asks. AF_VSOCK reaches the
// hypervisor, AF_ALG and AF_XDP are for speed alone. EAFNOSUPPORT and not EPERM: getaddrinfo,
// libaudit and the runtimes take it for a kernel without the family.
Bound sockets(std::vector<ArgumentTests> families) {
  families.push_back({is(0, AF_UNIX)});
  return {{"socket", "socketpair"}, std::move(families), SeccompAction::no_family};
}

// Any IP protocol. Of netlink: interfaces and routes (getifaddrs, ip), sockets (ss) and devices
// (libudev). Not netfilter, xfrm, audit, generic: an administrator's.
Bound default_sockets() {
  std::vector<ArgumentTests> families = {{is(0, AF_INET)}, {is(0, AF_INET6)}};
  for (const std::uint64_t protocol :
       Values{NETLINK_ROUTE, NETLINK_SOCK_DIAG, NETLINK_KOBJECT_UEVENT})
    families.push_back({is(0, AF_NETLINK), is(2, protocol)});
  return sockets(std::move(families));
}

// Runs have a loopback device, and the runtimes list interfaces. Not SCTP, DCCP, L2TP, SMC: modules
// that an unprivileged socket() loads.
Bound strict_sockets() {
  constexpr std::uint64_t protocols[] = {IPPROTO_IP,      IPPROTO_TCP,  IPPROTO_UDP,
                                         IPPROTO_UDPLITE, IPPROTO_ICMP, IPPROTO_ICMPV6,
                                         IPPROTO_MPTCP};
  std::vector<ArgumentTests> families = {{is(0, AF_NETLINK), is(2, NETLINK_ROUTE)}};
  for (const std::uint64_t family : Values{AF_INET, AF_INET6}) {
    for (const std::uint64_t protocol : protocols)
      families.push_back({is(0, family), is(2, protocol)});
  }
  return sockets(std::move(families));
}

std::vector<Bound> bounded_under_strict() {
  // What a process may ask about itself or do to itself. Not: its memory map (SET_MM), who may
  // trace it, its time stamp counter, the parent-death signal that ties it to its launcher, orphans
  // (CHILD_SUBREAPER), its dumpable flag, through which it would hide from the supervisor.
  std::vector<ArgumentTests> options;
  for (const std::uint64_t option :
       Values{PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_PDEATHSIG, PR_GET_KEEPCAPS,
              PR_GET_SECUREBITS, PR_GET_CHILD_SUBREAPER, PR_CAPBSET_READ, PR_SET_NO_NEW_PRIVS,
              PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP, PR_SET_SECCOMP, PR_SET_TIMERSLACK,
              PR_GET_TIMERSLACK, PR_SET_THP_DISABLE, PR_GET_THP_DISABLE, PR_SET_VMA,
              // The JVM on aarch64 asks for the vector length.
              PR_SVE_GET_VL, PR_SVE_SET_VL})
    options.push_back({is(0, option)});
  return {
      {{"prctl"}, std::move(options)},
      // A program may confine itself further (file, man and ssh do). A listener is another thing:
      // it answers system calls of others from user space.
      {{"seccomp"}, {{has_none_of(1, SECCOMP_FILTER_FLAG_NEW_LISTENER)}}},
      // System V segments outlive their process and no rlimit counts them. PostgreSQL insists on a
      // small one; the kernel's 4096 of them are 256 MiB at most.
      {{"shmget"}, {{at_most(1, 64u << 10)}}},
  };
}

// ---- STRICT alone ----

std::vector<Denial> never_under_strict() {
  return {
      {SeccompAction::kill, tripwires()},
      // DEFAULT leaves it alone, for debuggers and LeakSanitizer: the kernel's check of who may
      // trace whom is the same that /proc/PID/mem has, so refusing one and leaving the other
      // closes nothing. Code nobody has read gets neither (Landlock, namespaces) nor this code
      // path.
      {SeccompAction::not_permitted, {"ptrace"}},
      // Leases and directory notifications on shared inodes are a channel between runs.
      {SeccompAction::not_permitted, {"fcntl"}, {is(1, F_SETLEASE)}},
      {SeccompAction::not_permitted, {"fcntl"}, {is(1, F_NOTIFY)}},
      // Optional calls that no runtime needs; libaio and C libraries know what to do without.
      {SeccompAction::no_such_call,
       {"io_setup",          "io_destroy",       "io_submit",
        "io_cancel",         "io_getevents",     "io_pgetevents",
        "process_madvise",   "process_mrelease", "set_mempolicy_home_node",
        "cachestat",         "map_shadow_stack", "futex_wake",
        "futex_wait",        "futex_requeue",    "lsm_get_self_attr",
        "lsm_set_self_attr", "lsm_list_modules", "setxattrat",
        "getxattrat",        "listxattrat",      "removexattrat",
        "file_getattr",      "file_setattr"}},
  };
}

// What CPython, Node, the JVM, Go, git, make and gcc were seen to use, families completed.
Names allowed_under_strict() {
  Names names;
  // Processes and threads.
  append(names, {"fork",
                 "vfork",
                 "execve",
                 "execveat",
                 "exit",
                 "exit_group",
                 "wait4",
                 "waitid",
                 "set_tid_address",
                 "set_robust_list",
                 "get_robust_list",
                 "futex",
                 "futex_waitv",
                 "rseq",
                 "membarrier",
                 "arch_prctl",
                 "getpid",
                 "getppid",
                 "gettid",
                 "getpgid",
                 "getpgrp",
                 "setpgid",
                 "getsid",
                 "setsid",
                 "pidfd_open",
                 "restart_syscall"});
  // Scheduling: rlimits and the uid bound what it may change.
  append(names, {"sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getparam",
                 "sched_setparam", "sched_getscheduler", "sched_setscheduler", "sched_getattr",
                 "sched_setattr", "sched_get_priority_max", "sched_get_priority_min",
                 "sched_rr_get_interval", "getpriority", "setpriority", "ioprio_get", "ioprio_set",
                 "getcpu"});
  // Signals: a PID namespace bounds whom they reach.
  append(names,
         {"rt_sigaction", "rt_sigprocmask", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait",
          "rt_sigreturn", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "sigaltstack", "signalfd",
          "signalfd4", "kill", "tkill", "tgkill", "pause", "pidfd_send_signal"});
  // Identity and limits: without capabilities these lead nowhere but down.
  append(names, {"getuid",    "geteuid",   "getgid",    "getegid",  "getresuid", "getresgid",
                 "getgroups", "setuid",    "setgid",    "setreuid", "setregid",  "setresuid",
                 "setresgid", "setgroups", "setfsuid",  "setfsgid", "capget",    "capset",
                 "getrlimit", "setrlimit", "getrusage", "umask"});
  // Landlock: a program can only restrict itself with it, and the layers on it stay.
  append(names, {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"});
  // Memory. Writable and executable pages too: every JIT needs them.
  append(names, {"brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "msync", "mincore",
                 "mlock", "mlock2", "munlock", "mlockall", "munlockall", "mseal", "memfd_create",
                 "pkey_alloc", "pkey_free", "pkey_mprotect", "get_mempolicy"});
  // Files by descriptor.
  append(names, {"read",       "readv",           "pread64",     "preadv",     "preadv2",
                 "write",      "writev",          "pwrite64",    "pwritev",    "pwritev2",
                 "lseek",      "close",           "close_range", "dup",        "dup2",
                 "dup3",       "fcntl",           "ioctl",       "flock",      "fstat",
                 "newfstatat", "statx",           "fstatfs",     "ftruncate",  "fallocate",
                 "fadvise64",  "readahead",       "fsync",       "fdatasync",  "sync",
                 "syncfs",     "sync_file_range", "sendfile",    "splice",     "tee",
                 "vmsplice",   "copy_file_range", "getdents",    "getdents64", "pipe",
                 "pipe2"});
  // Files by path.
  append(names,
         {"stat",         "lstat",       "statfs",    "access",     "faccessat",  "faccessat2",
          "readlink",     "readlinkat",  "getcwd",    "chdir",      "fchdir",     "mkdir",
          "mkdirat",      "rmdir",       "rename",    "renameat",   "renameat2",  "link",
          "linkat",       "symlink",     "symlinkat", "unlink",     "unlinkat",   "truncate",
          "chown",        "fchown",      "lchown",    "fchownat",   "utime",      "utimes",
          "futimesat",    "utimensat",   "getxattr",  "lgetxattr",  "fgetxattr",  "setxattr",
          "lsetxattr",    "fsetxattr",   "listxattr", "llistxattr", "flistxattr", "removexattr",
          "lremovexattr", "fremovexattr"});
  // Waiting.
  append(names, {"poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1",
                 "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2",
                 "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch"});
  // Time.
  append(names, {"time", "times", "gettimeofday", "clock_gettime", "clock_getres", "nanosleep",
                 "clock_nanosleep", "alarm", "getitimer", "setitimer", "timer_create",
                 "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete",
                 "timerfd_create", "timerfd_settime", "timerfd_gettime"});
  // Sockets, once there is one.
  append(names, {"bind", "connect", "listen", "accept", "accept4", "getsockname", "getpeername",
                 "getsockopt", "setsockopt", "shutdown", "sendto", "sendmsg", "sendmmsg",
                 "recvfrom", "recvmsg", "recvmmsg"});
  // Between processes, within the run's own IPC namespace.
  append(names, {"shmat", "shmdt", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget",
                 "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "mq_timedsend",
                 "mq_timedreceive", "mq_notify", "mq_getsetattr"});
  // The machine.
  append(names, {"uname", "sysinfo", "getrandom"});
  return names;
}

SeccompRules default_rules() {
  SeccompRules rules;
  rules.denied = never();
  rules.denied.push_back({SeccompAction::not_permitted, tripwires()});
  rules.bounded = bounded_everywhere();
  rules.bounded.push_back(default_sockets());
  return rules;
}

SeccompRules strict_rules() {
  SeccompRules rules;
  rules.denied = never();
  append(rules.denied, never_under_strict());
  rules.bounded = bounded_everywhere();
  append(rules.bounded, bounded_under_strict());
  rules.bounded.push_back(strict_sockets());
  rules.allowed = allowed_under_strict();
  rules.rest_is_refused = true;
  return rules;
}

}  // namespace

const SeccompRules& rules_of(SeccompUse use) {
  static const SeccompRules strict = strict_rules();
  static const SeccompRules by_default = default_rules();
  return use == SeccompUse::strict ? strict : by_default;
}

const std::vector<std::pair<std::uint32_t, std::uint32_t>>& unused_numbers(
    Architecture architecture) {
  // 335 and 336 are the kernel's own trampolines for probes, which it lets through by itself.
  static const std::vector<std::pair<std::uint32_t, std::uint32_t>> x86_64 = {{335, 423}};
  // 244..259 are free for the architecture; from 403 on are the 32-bit programs' calls for 64-bit
  // times.
  static const std::vector<std::pair<std::uint32_t, std::uint32_t>> aarch64 = {{244, 259},
                                                                               {295, 423}};
  return architecture == Architecture::x86_64 ? x86_64 : aarch64;
}

const std::vector<NewerCall>& newer_calls() {
  static const std::vector<NewerCall> calls = {
      {"futex_waitv", 449},       {"set_mempolicy_home_node", 450},
      {"cachestat", 451},         {"fchmodat2", 452},
      {"map_shadow_stack", 453},  {"futex_wake", 454},
      {"futex_wait", 455},        {"futex_requeue", 456},
      {"statmount", 457},         {"listmount", 458},
      {"lsm_get_self_attr", 459}, {"lsm_set_self_attr", 460},
      {"lsm_list_modules", 461},  {"mseal", 462},
      {"setxattrat", 463},        {"getxattrat", 464},
      {"listxattrat", 465},       {"removexattrat", 466},
      {"open_tree_attr", 467},    {"file_getattr", 468},
      {"file_setattr", 469},
  };
  return calls;
}

}  // namespace paddock::kernel
