// Attempts on the kernel's system calls themselves. Most give invalid arguments: the question is
// whether the kernel's code behind the call can be reached at all.

#include <asm/ldt.h>
#include <asm/prctl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "escapes/attempts/tools.hpp"

namespace paddock::escapes {
namespace {

// Numbers that the headers of the build may not have yet.
constexpr long number_memfd_secret = 447;
constexpr long number_set_mempolicy_home_node = 450;
constexpr long number_statmount = 457;
constexpr long number_listmount = 458;
constexpr long number_lsm_list_modules = 461;
constexpr long number_open_tree_attr = 467;
constexpr long x32_bit = 0x40000000;

template <class... Values>
Outcome reaches(long number, Values... values) {
  return reached(::syscall(number, values...));
}

// The 32-bit entry of the kernel has its own numbers: 20 is getpid there, and to a filter that does
// not look at the architecture it is writev.
Outcome call_by_int80(const Arguments&) {
#if defined(__x86_64__)
  long result = 20;
  __asm__ volatile("int $0x80" : "+a"(result) : : "r8", "r9", "r10", "r11", "memory");
  errno = static_cast<int>(-result);
  return succeeded_if(result > 0);
#else
  return unsupported("int 0x80 is an x86 instruction");
#endif
}

Outcome open_io_uring() {
  unsigned char parameters[120] = {};
  return reached(::syscall(SYS_io_uring_setup, 2, parameters));
}

Outcome open_perf_event(const Arguments&) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.exclude_kernel = 1;
  return succeeded_if(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) >= 0);
}

Outcome make_bpf_map(const Arguments&) {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = 4;
  attributes.value_size = 4;
  attributes.max_entries = 1;
  return succeeded_if(::syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes) >= 0);
}

Outcome set_personality(unsigned long value) {
  return succeeded_if(::personality(value) >= 0);
}

Outcome write_ldt(const Arguments&) {
  user_desc entry{};
  entry.seg_32bit = 1;
  entry.read_exec_only = 1;
  entry.seg_not_present = 1;
  return succeeded_if(::syscall(SYS_modify_ldt, 1, &entry, sizeof entry) == 0);
}

// A memory file can be executed where every file system is noexec.
Outcome execute_memory_file(const Arguments&) {
  const int fd = ::memfd_create("paddock-escape", 0);
  if (fd < 0) return refused();
  const std::string program = content_of("/proc/self/exe");
  if (::write(fd, program.data(), program.size()) < 0) return refused();
  const pid_t child = ::fork();
  if (child == 0) {
    char name[] = "paddock-attempt";
    char list[] = "--list";
    char* const argv[] = {name, list, nullptr};
    char* const environment[] = {nullptr};
    ::close(1);
    ::syscall(SYS_execveat, fd, "", argv, environment, AT_EMPTY_PATH);
    ::_exit(100);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) != 100 ? succeeded() : refused(EACCES);
}

sock_fprog allow_everything() {
  static sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  return {1, code};
}

// A supervisor of one's own system calls, who may answer them: a way to lie to a tracer.
Outcome listen_to_own_calls(const Arguments&) {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  sock_fprog program = allow_everything();
  return succeeded_if(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) >= 0);
}

// A further filter can only take away. Recorded, not prevented where programs do it themselves.
Outcome add_own_filter(const Arguments&) {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  sock_fprog program = allow_everything();
  return succeeded_if(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
}

Outcome be_without_filter(const Arguments&) {
  const std::string status = content_of("/proc/self/status");
  if (status.empty()) return refused(ENODATA);
  return status.find("Seccomp:\t0") != std::string::npos ? succeeded() : refused_as("filtered");
}

Outcome nest_landlock(const Arguments&) {
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE;
  return succeeded_if(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0) >=
                      0);
}

// In another thread than the first: a filter must hold for all.
Outcome call_in_a_thread(const Arguments&) {
  Outcome outcome;
  std::thread([&] { outcome = open_io_uring(); }).join();
  return outcome;
}

// After a fork and a second execve.
Outcome call_after_execve(const Arguments&) {
  ::execl("/proc/self/exe", "paddock-attempt", "sys_iouring", nullptr);
  return refused();
}

Outcome call_in_a_child(const Arguments&) {
  int ends[2];
  if (::pipe(ends) != 0) return refused();
  if (::fork() == 0) {
    const Outcome outcome = open_io_uring();
    [[maybe_unused]] const ssize_t told =
        ::write(ends[1], outcome.line.data(), outcome.line.size());
    ::_exit(0);
  }
  char line[256] = {};
  const ssize_t count = ::read(ends[0], line, sizeof line - 1);
  ::wait(nullptr);
  return count > 0 ? Outcome{line} : refused(EPIPE);
}

Outcome open_by_openat2(const Arguments&) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC;
  return succeeded_if(::syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how) >= 0);
}

Outcome steal_from_own_child(const Arguments&) {
  const pid_t child = forks([] {});
  const long pidfd = ::syscall(SYS_pidfd_open, child, 0);
  const long stolen = ::syscall(SYS_pidfd_getfd, pidfd, 0, 0);
  const int error = errno;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return stolen >= 0 ? succeeded() : refused(error);
}

Outcome set_option(int option, unsigned long a, unsigned long b = 0, unsigned long c = 0) {
  return reached(::prctl(option, a, b, c, 0));
}

}  // namespace

Attempts syscall_attempts() {
  using A = const Arguments&;
  return {
      {"sys_int80", call_by_int80},
      {"sys_x32", [](A) { return reaches(x32_bit | SYS_getpid); }},
      {"sys_without_filter", be_without_filter},
      {"sys_clone3", [](A) { return reaches(SYS_clone3, nullptr, 0); }},
      {"sys_iouring", [](A) { return open_io_uring(); }},
      {"sys_iouring_enter", [](A) { return reaches(SYS_io_uring_enter, -1, 0, 0, 0, nullptr, 0); }},
      {"sys_iouring_register", [](A) { return reaches(SYS_io_uring_register, -1, 0, nullptr, 0); }},
      {"sys_filter_on_all_threads", call_in_a_thread},
      {"sys_filter_after_execve", call_after_execve},
      {"sys_filter_in_children", call_in_a_child},
      {"sys_userfaultfd", [](A) { return reaches(SYS_userfaultfd, UFFD_USER_MODE_ONLY); }},
      {"sys_bpf", make_bpf_map},
      {"sys_perf", open_perf_event},
      {"sys_mount", [](A) { return reaches(SYS_mount, "", "/nonexistent", "", 0, nullptr); }},
      {"sys_umount", [](A) { return reaches(SYS_umount2, "/nonexistent", 0); }},
      {"sys_fsopen", [](A) { return reaches(SYS_fsopen, "tmpfs", 0); }},
      {"sys_fsconfig", [](A) { return reaches(SYS_fsconfig, -1, 0, nullptr, nullptr, 0); }},
      {"sys_fsmount", [](A) { return reaches(SYS_fsmount, -1, 0, 0); }},
      {"sys_fspick", [](A) { return reaches(SYS_fspick, AT_FDCWD, "/", 0); }},
      {"sys_open_tree", [](A) { return reaches(SYS_open_tree, AT_FDCWD, "/", 0); }},
      {"sys_open_tree_attr",
       [](A) { return reaches(number_open_tree_attr, AT_FDCWD, "/", 0, nullptr, 0); }},
      {"sys_move_mount", [](A) { return reaches(SYS_move_mount, -1, "", -1, "", 0); }},
      {"sys_mount_setattr", [](A) { return reaches(SYS_mount_setattr, -1, "", 0, nullptr, 0); }},
      {"sys_statmount", [](A) { return reaches(number_statmount, nullptr, nullptr, 0, 0); }},
      {"sys_listmount", [](A) { return reaches(number_listmount, nullptr, nullptr, 0, 0); }},
      {"sys_pivot_root", [](A) { return reaches(SYS_pivot_root, "/nonexistent", "/nonexistent"); }},
      {"sys_chroot", [](A) { return reaches(SYS_chroot, "/nonexistent"); }},
      {"sys_kexec_load", [](A) { return reaches(SYS_kexec_load, 0, 0, nullptr, ~0ul); }},
      {"sys_kexec_file_load",
       [](A) { return reaches(SYS_kexec_file_load, -1, -1, 0, nullptr, ~0ul); }},
      {"sys_init_module", [](A) { return reaches(SYS_init_module, nullptr, 0, ""); }},
      {"sys_finit_module", [](A) { return reaches(SYS_finit_module, -1, "", 0); }},
      {"sys_delete_module", [](A) { return reaches(SYS_delete_module, "paddock_nonexistent", 0); }},
      {"sys_personality_read_implies_exec", [](A) { return set_personality(READ_IMPLIES_EXEC); }},
      {"sys_personality_no_randomize", [](A) { return set_personality(ADDR_NO_RANDOMIZE); }},
      {"sys_modify_ldt", write_ldt},
      {"sys_memfd_exec", execute_memory_file},
      {"sys_memfd_secret", [](A) { return reaches(number_memfd_secret, 0); }},
      {"sys_seccomp_new_listener", listen_to_own_calls},
      {"sys_seccomp_own_filter", add_own_filter},
      {"sys_landlock_nest", nest_landlock},
      {"sys_openat2", open_by_openat2},
      {"sys_pidfd_getfd", steal_from_own_child},
      {"sys_process_vm_readv",
       [](A) { return reaches(SYS_process_vm_readv, ::getpid(), nullptr, 0, nullptr, 0, 0); }},
      {"sys_process_vm_writev",
       [](A) { return reaches(SYS_process_vm_writev, ::getpid(), nullptr, 0, nullptr, 0, 0); }},
      {"sys_process_madvise", [](A) { return reaches(SYS_process_madvise, -1, nullptr, 0, 0, 0); }},
      {"sys_process_mrelease", [](A) { return reaches(SYS_process_mrelease, -1, 0); }},
      {"sys_kcmp_self", [](A) { return reaches(SYS_kcmp, ::getpid(), ::getpid(), 1, 0, 0); }},
      {"sys_ptrace_traceme", [](A) { return reaches(SYS_ptrace, 0, 0, nullptr, nullptr); }},
      {"sys_lookup_dcookie", [](A) { return reaches(SYS_lookup_dcookie, 0, nullptr, 0); }},
      {"sys_fanotify_init", [](A) { return reaches(SYS_fanotify_init, 0x200, 0); }},
      {"sys_add_key", [](A) { return reaches(SYS_add_key, nullptr, nullptr, nullptr, 0, 0); }},
      {"sys_request_key", [](A) { return reaches(SYS_request_key, nullptr, nullptr, nullptr, 0); }},
      {"sys_keyctl", [](A) { return reaches(SYS_keyctl, -1, 0, 0, 0, 0); }},
      {"sys_move_pages",
       [](A) { return reaches(SYS_move_pages, 0, 0, nullptr, nullptr, nullptr, 0); }},
      {"sys_migrate_pages", [](A) { return reaches(SYS_migrate_pages, 0, 0, nullptr, nullptr); }},
      {"sys_set_mempolicy", [](A) { return reaches(SYS_set_mempolicy, 0, nullptr, 0); }},
      {"sys_set_mempolicy_home_node",
       [](A) { return reaches(number_set_mempolicy_home_node, 0, 0, 0, 0); }},
      {"sys_lsm_list_modules",
       [](A) { return reaches(number_lsm_list_modules, nullptr, nullptr, 0); }},
      {"sys_sysfs", [](A) { return reaches(SYS_sysfs, 3); }},
      {"sys_ustat", [](A) { return reaches(SYS_ustat, 0, nullptr); }},
      {"sys_remap_file_pages", [](A) { return reaches(SYS_remap_file_pages, 0, 0, 1, 0, 0); }},
      {"sys_quotactl_fd", [](A) { return reaches(SYS_quotactl_fd, -1, 0, 0, nullptr); }},
      {"sys_clock_settime",
       [](A) { return reaches(SYS_clock_settime, 1 /* MONOTONIC */, nullptr); }},
      {"sys_settimeofday", [](A) { return reaches(SYS_settimeofday, nullptr, nullptr); }},
      {"sys_prctl_set_mm", [](A) { return set_option(PR_SET_MM, PR_SET_MM_MAP_SIZE, 1); }},
      {"sys_prctl_set_ptracer", [](A) { return set_option(PR_SET_PTRACER, ~0ul); }},
      {"sys_prctl_tsc", [](A) { return set_option(PR_SET_TSC, PR_TSC_ENABLE); }},
      {"sys_prctl_dispatch",
       [](A) { return set_option(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF); }},
      {"sys_prctl_sched_core", [](A) { return set_option(62 /* SCHED_CORE */, 1, 0, 0); }},
      {"sys_prctl_speculation", [](A) { return set_option(PR_SET_SPECULATION_CTRL, 0, ~0ul); }},
  };
}

}  // namespace paddock::escapes
