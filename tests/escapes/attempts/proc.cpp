// Attempts on /proc and on other processes through it: the init of the run ("proc1_": the parent),
// the supervisor's other processes, and what the kernel says about the host.

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>

#include "escapes/attempts/tools.hpp"

namespace paddock::escapes {
namespace {

std::string victim_file(const Arguments& arguments, const std::string& file) {
  return "/proc/" + arguments.text("victim") + "/" + file;
}

int pidfd_of(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

Outcome steal_descriptor(pid_t pid, int first, int last) {
  const int pidfd = pidfd_of(pid);
  if (pidfd < 0) return refused();
  for (int fd = first; fd <= last; ++fd) {
    if (::syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0) return succeeded();
    if (errno != EBADF) return refused();
  }
  return refused();
}

Outcome seize(pid_t pid) {
  return succeeded_if(::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0);
}

Outcome read_memory(pid_t pid) {
  // An address that is not mapped: EFAULT says that the target was open to us.
  char byte = 0;
  const iovec local{&byte, 1};
  const iovec remote{nullptr, 1};
  const ssize_t count = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
  if (count < 0 && errno == ESRCH) return refused();
  return reached(count);
}

Outcome read_limits(pid_t pid) {
  rlimit limit{};
  return succeeded_if(::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) == 0);
}

Outcome rewrite_oom_score(const Arguments&) {
  const std::string path = parent_file("oom_score_adj");
  const std::string value = content_of(path);
  if (value.empty()) return refused();
  return succeeded_if(writes(path, value));
}

// Zeros where the reader may not know addresses.
Outcome read_kernel_addresses(const Arguments&) {
  errno = 0;
  const std::string symbols = content_of("/proc/kallsyms");
  if (symbols.empty()) return refused(errno == 0 ? ENODATA : errno);
  const bool hidden =
      symbols.starts_with("0000000000000000 ") && symbols.find("\nffff") == std::string::npos;
  return hidden ? refused(ENODATA, "every address is 0") : succeeded();
}

Outcome read_memory_map_of_the_host(const Arguments&) {
  errno = 0;
  const std::string regions = content_of("/proc/iomem");
  if (regions.empty()) return refused(errno == 0 ? ENODATA : errno);
  const bool hidden = regions.find_first_of("123456789abcdef") > regions.find(':');
  return hidden ? refused(ENODATA, "every address is 0") : succeeded();
}

}  // namespace

Attempts proc_attempts() {
  using A = const Arguments&;
  return {
      {"proc1_environ", [](A) { return reads(parent_file("environ")); }},
      {"proc1_environ_secret",
       [](A) { return finds_in_processes("environ", "PADDOCK_ESCAPES_SECRET="); }},
      {"proc1_cmdline_paths", [](A a) { return finds_in_processes("cmdline", a.text("canary")); }},
      {"proc1_mem_write", [](A) { return opens(parent_file("mem"), O_RDWR); }},
      {"proc1_maps", [](A) { return reads(parent_file("maps")); }},
      {"proc1_auxv", [](A) { return reads(parent_file("auxv")); }},
      {"proc1_exe", [](A) { return opens(parent_file("exe"), O_RDONLY); }},
      {"proc1_cwd", [](A) { return opens(parent_file("cwd/"), O_RDONLY | O_DIRECTORY); }},
      {"proc1_root_walk", [](A) { return opens(parent_file("root/"), O_RDONLY | O_DIRECTORY); }},
      {"proc1_fd_list", [](A) { return opens(parent_file("fd"), O_RDONLY | O_DIRECTORY); }},
      {"proc1_fd_open", [](A) { return opens(parent_file("fd/1"), O_WRONLY); }},
      {"proc1_fd_steal", [](A) { return steal_descriptor(::getppid(), 1, 1); }},
      {"proc1_ptrace", [](A) { return seize(::getppid()); }},
      {"proc1_process_vm", [](A) { return read_memory(::getppid()); }},
      {"proc1_prlimit", [](A) { return read_limits(::getppid()); }},
      {"proc1_oom_score", rewrite_oom_score},
      {"proc1_namespaces", [](A) { return opens(parent_file("ns/mnt"), O_RDONLY); }},
      {"proc1_renice",
       [](A) {
         return succeeded_if(::setpriority(PRIO_PROCESS, static_cast<id_t>(::getppid()), 19) == 0);
       }},
      {"proc1_affinity",
       [](A) {
         cpu_set_t all;
         CPU_ZERO(&all);
         CPU_SET(0, &all);
         return succeeded_if(::sched_setaffinity(::getppid(), sizeof all, &all) == 0);
       }},
      {"proc_victim_environ", [](A a) { return reads(victim_file(a, "environ")); }},
      {"proc_victim_mem", [](A a) { return opens(victim_file(a, "mem"), O_RDWR); }},
      {"proc_victim_root", [](A a) { return opens(victim_file(a, "root/"), O_RDONLY); }},
      {"proc_victim_cwd", [](A a) { return opens(victim_file(a, "cwd/"), O_RDONLY); }},
      {"proc_victim_fd", [](A a) { return opens(victim_file(a, "fd/3"), O_RDONLY); }},
      {"proc_other_pids_hidden",
       [](A a) { return opens("/proc/" + a.text("victim"), O_RDONLY | O_DIRECTORY); }},
      {"priv_ptrace_peer", [](A a) { return seize(a.number("victim")); }},
      {"priv_process_vm", [](A a) { return read_memory(a.number("victim")); }},
      {"priv_pidfd_getfd", [](A a) { return steal_descriptor(a.number("victim"), 0, 2); }},
      {"priv_prlimit_peer", [](A a) { return read_limits(a.number("victim")); }},
      {"priv_pidfd_open_peer", [](A a) { return succeeded_if(pidfd_of(a.number("victim")) >= 0); }},
      {"proc_keys", [](A) { return reads("/proc/keys"); }},
      {"proc_key_users", [](A) { return reads("/proc/key-users"); }},
      {"proc_kallsyms", read_kernel_addresses},
      {"proc_iomem", read_memory_map_of_the_host},
      {"proc_config", [](A) { return reads("/proc/config.gz"); }},
      {"proc_cmdline", [](A) { return reads("/proc/cmdline"); }},
      {"proc_interrupts", [](A) { return reads("/proc/interrupts"); }},
      {"proc_timer_list", [](A) { return reads("/proc/timer_list"); }},
      {"proc_modules", [](A) { return opens("/proc/modules", O_RDONLY); }},
      {"proc_slabinfo", [](A) { return reads("/proc/slabinfo"); }},
      {"proc_vmallocinfo", [](A) { return reads("/proc/vmallocinfo"); }},
      {"proc_kcore", [](A) { return opens("/proc/kcore", O_RDONLY); }},
      {"proc_kmsg", [](A) { return opens("/proc/kmsg", O_RDONLY); }},
      {"proc_kpagecount", [](A) { return reads("/proc/kpagecount"); }},
      {"proc_sysrq", [](A) { return opens("/proc/sysrq-trigger", O_WRONLY); }},
      {"proc_core_pattern_write",
       [](A) { return opens("/proc/sys/kernel/core_pattern", O_WRONLY); }},
      {"proc_modprobe_write", [](A) { return opens("/proc/sys/kernel/modprobe", O_WRONLY); }},
      {"proc_sys_user_max_ns",
       [](A) { return opens("/proc/sys/user/max_user_namespaces", O_WRONLY); }},
      {"proc_sys_hostname_write", [](A) { return opens("/proc/sys/kernel/hostname", O_WRONLY); }},
      {"proc_sys_ip_forward_write",
       [](A) { return opens("/proc/sys/net/ipv4/ip_forward", O_WRONLY); }},
      {"proc_mountinfo_host_paths", [](A) { return finds("/proc/self/mountinfo", " /sys "); }},
      {"proc_locks_leak", [](A a) { return finds("/proc/locks", ":" + a.text("lock") + " "); }},
      {"proc_net_unix", [](A a) { return finds("/proc/net/unix", a.text("abstract")); }},
      {"proc_sysvipc_shm", [](A a) { return finds("/proc/sysvipc/shm", a.text("shmkey")); }},
      {"proc_self_write", [](A) { return opens("/proc/self/comm", O_WRONLY); }},
      {"proc_loadavg", [](A) { return reads("/proc/loadavg"); }},
      {"sys_absent", [](A) { return opens("/sys/kernel", O_RDONLY | O_DIRECTORY); }},
      {"sys_cgroup_absent", [](A) { return opens("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY); }},
      {"sys_power_write", [](A) { return opens("/sys/power/state", O_WRONLY); }},
  };
}

}  // namespace paddock::escapes
