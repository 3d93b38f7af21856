// Attempts to gain rights: capabilities, set-user-ID programs, namespaces, keyrings, terminals.

#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/reboot.h>
#include <sched.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sched.h>
#include <cstdlib>
#include <cstring>

#include "escapes/attempts/tools.hpp"

namespace paddock::escapes {
namespace {

constexpr uid_t nobody = 65534;

Outcome hold_a_capability(const Arguments&) {
  const std::string status = content_of("/proc/self/status");
  for (const char* set : {"CapInh:\t", "CapPrm:\t", "CapEff:\t", "CapBnd:\t", "CapAmb:\t"}) {
    const std::size_t at = status.find(set);
    if (at == std::string::npos) return refused(ENODATA);
    const std::string value = status.substr(at + std::strlen(set), 16);
    if (value.find_first_not_of('0') != std::string::npos) return succeeded(set + value);
  }
  return refused(EPERM, "all five sets are empty");
}

Outcome gain_all_capabilities(const Arguments&) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  ::syscall(SYS_capget, &header, data);
  data[0].permitted |= 1u << CAP_SYS_ADMIN;
  data[0].effective |= 1u << CAP_SYS_ADMIN;
  return succeeded_if(::syscall(SYS_capset, &header, data) == 0);
}

Outcome raise_ambient(const Arguments&) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  ::syscall(SYS_capget, &header, data);
  data[0].inheritable = data[0].permitted;
  ::syscall(SYS_capset, &header, data);
  return succeeded_if(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0) == 0);
}

// What a program with rights of its own says when it is started by somebody without any.
std::string said_by(const std::string& program, const char* attempt) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    // Unconfined, root would have these rights anyway. Whoever is not root cannot and need not.
    if (::getuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setresuid(nobody, nobody, nobody) != 0))
      ::_exit(1);
    ::dup2(ends[1], 1);
    ::execl(program.c_str(), program.c_str(), attempt, nullptr);
    ::_exit(1);
  }
  ::close(ends[1]);
  char text[128] = {};
  const ssize_t count = ::read(ends[0], text, sizeof text - 1);
  ::waitpid(child, nullptr, 0);
  return count > 0 ? text : "";
}

Outcome run_setuid_program(const Arguments& arguments) {
  const std::string said = said_by(arguments.text("bound") + "/setuid-attempt", "priv_am_i_root");
  return said.starts_with("succeeded") ? succeeded() : refused(EPERM, "it ran as its caller");
}

Outcome run_program_with_capability(const Arguments& arguments) {
  const std::string program = arguments.text("bound") + "/filecap-attempt";
  const std::string said = said_by(program, "priv_hold_effective");
  return said.starts_with("succeeded") ? succeeded() : refused(EPERM, "it ran without");
}

Outcome unshares(int flags) {
  return succeeded_if(::unshare(flags) == 0);
}

Outcome clones_user_namespace(bool by_clone3) {
  clone_args arguments{};
  arguments.flags = CLONE_NEWUSER;
  arguments.exit_signal = SIGCHLD;
  const long pid =
      by_clone3 ? ::syscall(SYS_clone3, &arguments, sizeof arguments)
                : ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) ::_exit(0);
  return succeeded_if(pid > 0);
}

Outcome become_root_in_user_namespace(const Arguments&) {
  const std::string map = "0 " + std::to_string(::geteuid()) + " 1";
  if (::unshare(CLONE_NEWUSER) != 0) return refused();
  if (!writes("/proc/self/uid_map", map)) return refused();
  return ::geteuid() == 0 ? succeeded() : refused_as("ignored");
}

Outcome enter_namespace(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return succeeded_if(fd >= 0 && ::setns(fd, 0) == 0);
}

Outcome enter_namespaces_by_pidfd(pid_t pid) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  return succeeded_if(fd >= 0 && ::setns(fd, CLONE_NEWNS) == 0);
}

Outcome chown_to_root(const Arguments&) {
  const int fd = ::open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  return succeeded_if(fd >= 0 && ::fchown(fd, 1, 1) == 0);
}

long keyctl(int operation, long a = 0, long b = 0, long c = 0, long d = 0) {
  return ::syscall(SYS_keyctl, operation, a, b, c, d);
}

long pointer(const void* address) {
  return reinterpret_cast<long>(address);
}

Outcome read_key_of_the_supervisor(const Arguments&) {
  const long key = ::syscall(SYS_request_key, "user", "paddock-escapes-secret", nullptr, 0);
  if (key < 0) return refused();
  char value[64];
  return succeeded_if(keyctl(KEYCTL_READ, key, pointer(value), sizeof value) > 0);
}

Outcome add_key(const Arguments&) {
  const long key =
      ::syscall(SYS_add_key, "user", "paddock-escape", "x", 1, KEY_SPEC_PROCESS_KEYRING);
  return succeeded_if(key >= 0);
}

// A terminal of one's own shows whether the call is open at all: what matters is that it is not
// open for the terminal that somebody else gave to the run.
int own_terminal() {
  const int controller = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (controller < 0 || ::grantpt(controller) != 0 || ::unlockpt(controller) != 0) return -1;
  const int terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const pid_t child = ::fork();  // whoever leads a group cannot lead a session anew
  if (child > 0) {
    int status = 0;
    ::waitpid(child, &status, 0);
    ::_exit(WEXITSTATUS(status));
  }
  ::setsid();
  ::ioctl(terminal, TIOCSCTTY, 0);
  return terminal;
}

Outcome pushes_input(unsigned long request) {
  const int terminal = own_terminal();
  if (terminal < 0) return refused();
  const char byte = 'x';
  return succeeded_if(::syscall(SYS_ioctl, terminal, request, &byte) == 0);
}

// Not a terminal at all: whether the kernel says so shows whether the call is open.
Outcome reaches_terminal_call(unsigned long request) {
  int value = 0;
  return reached(::syscall(SYS_ioctl, 1, request, &value));
}

Outcome set_hostname(const Arguments&) {
  utsname names{};
  ::uname(&names);
  return succeeded_if(::sethostname(names.nodename, std::strlen(names.nodename)) == 0);
}

Outcome set_domain_name(const Arguments&) {
  char name[256] = {};
  if (::getdomainname(name, sizeof name) != 0) return refused();
  return succeeded_if(::setdomainname(name, std::strlen(name)) == 0);
}

// Sets the tick to what it is.
Outcome adjust_clock(const Arguments&) {
  timex clock{};
  if (::adjtimex(&clock) < 0) return refused();
  clock.modes = ADJ_TICK;
  return succeeded_if(::adjtimex(&clock) >= 0);
}

Outcome am_i_root(const Arguments&) {
  return ::geteuid() == 0 ? succeeded() : refused(EPERM);
}

Outcome hold_effective(const Arguments&) {
  const std::string status = content_of("/proc/self/status");
  return status.find("CapEff:\t0000000000000000") == std::string::npos ? succeeded()
                                                                       : refused(EPERM);
}

Outcome trace_child(const Arguments&) {
  const pid_t child = forks([] {});
  const long result = ::ptrace(PTRACE_SEIZE, child, nullptr, nullptr);
  const int error = errno;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return result == 0 ? succeeded() : refused(error);
}

}  // namespace

Attempts privilege_attempts() {
  using A = const Arguments&;
  return {
      {"priv_am_i_root", am_i_root},
      {"priv_hold_effective", hold_effective},
      {"priv_caps_all_zero", hold_a_capability},
      {"priv_capset_raise", gain_all_capabilities},
      {"priv_ambient_raise", raise_ambient},
      {"priv_nnp",
       [](A) {
         return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? succeeded() : refused(EPERM);
       }},
      {"priv_securebits",
       [](A) { return succeeded_if(::prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) == 0); }},
      {"priv_setuid_binary", run_setuid_program},
      {"priv_filecap_binary", run_program_with_capability},
      {"priv_setuid_root", [](A) { return succeeded_if(::syscall(SYS_setresuid, 0, 0, 0) == 0); }},
      {"priv_setuid_other",
       [](A) { return succeeded_if(::syscall(SYS_setresuid, ::getuid() + 1, -1, -1) == 0); }},
      {"priv_setgid_root", [](A) { return succeeded_if(::syscall(SYS_setresgid, 0, 0, 0) == 0); }},
      {"priv_setgroups", [](A) { return succeeded_if(::setgroups(0, nullptr) == 0); }},
      {"priv_chown", chown_to_root},
      {"priv_userns_nested", [](A) { return unshares(CLONE_NEWUSER); }},
      {"priv_userns_clone", [](A) { return clones_user_namespace(false); }},
      {"priv_userns_clone3", [](A) { return clones_user_namespace(true); }},
      {"priv_uid_map_rewrite", become_root_in_user_namespace},
      {"priv_unshare_mount", [](A) { return unshares(CLONE_NEWNS); }},
      {"priv_unshare_pid", [](A) { return unshares(CLONE_NEWPID); }},
      {"priv_unshare_net", [](A) { return unshares(CLONE_NEWNET); }},
      {"priv_unshare_ipc", [](A) { return unshares(CLONE_NEWIPC); }},
      {"priv_unshare_uts", [](A) { return unshares(CLONE_NEWUTS); }},
      {"priv_unshare_cgroup", [](A) { return unshares(CLONE_NEWCGROUP); }},
      {"priv_setns_proc", [](A) { return enter_namespace("/proc/self/ns/ipc"); }},
      {"priv_setns_parent", [](A) { return enter_namespace(parent_file("ns/uts")); }},
      {"priv_setns_pidfd", [](A a) { return enter_namespaces_by_pidfd(a.number("victim")); }},
      {"priv_ptrace_child", trace_child},
      {"priv_kcmp",
       [](A) {
         return succeeded_if(::syscall(SYS_kcmp, ::getpid(), ::getppid(), 1 /* VM */, 0, 0) >= 0);
       }},
      {"priv_key_of_supervisor", read_key_of_the_supervisor},
      {"priv_add_key", add_key},
      {"priv_keyctl_session", [](A) { return reached(keyctl(KEYCTL_JOIN_SESSION_KEYRING)); }},
      {"priv_keyctl_persistent",
       [](A) { return reached(keyctl(KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_PROCESS_KEYRING)); }},
      // CVE-2024-42318: the parent's new credentials came without its Landlock domain. The parent
      // of another user is refused by the kernel: what counts is that the call is closed.
      {"priv_session_to_parent", [](A) { return reached(keyctl(KEYCTL_SESSION_TO_PARENT)); }},
      {"priv_tiocsti_without_terminal", [](A) { return reaches_terminal_call(TIOCSTI); }},
      {"priv_tiocsti_without_terminal_high_bits",
       [](A) { return reaches_terminal_call(TIOCSTI | (1ul << 32)); }},
      {"priv_tiocsti", [](A) { return pushes_input(TIOCSTI); }},
      // CVE-2019-10063: the kernel reads 32 bits, a filter could compare 64.
      {"priv_tiocsti_high_bits", [](A) { return pushes_input(TIOCSTI | (1ul << 32)); }},
      {"priv_tioclinux", [](A) { return reaches_terminal_call(TIOCLINUX); }},
      {"priv_tiocsetd", [](A) { return reaches_terminal_call(TIOCSETD); }},
      {"priv_tioccons", [](A) { return reaches_terminal_call(TIOCCONS); }},
      {"priv_sethostname", set_hostname},
      {"priv_setdomainname", set_domain_name},
      {"priv_adjust_clock", adjust_clock},
      {"priv_iopl", [](A) { return succeeded_if(::iopl(3) == 0); }},
      {"priv_ioperm", [](A) { return succeeded_if(::ioperm(0x80, 1, 1) == 0); }},
      {"priv_syslog", [](A) { return succeeded_if(::klogctl(10, nullptr, 0) >= 0); }},
      // An unknown command: only who may reboot is told that it is unknown.
      {"priv_reboot",
       [](A) {
         return reached(
             ::syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, 1, nullptr));
       }},
      {"priv_swapon", [](A) { return reached(::swapon("/nonexistent", 0)); }},
      {"priv_acct", [](A) { return reached(::acct("/nonexistent")); }},
      {"priv_quotactl",
       [](A) { return reached(::syscall(SYS_quotactl, -1, "/nonexistent", 0, 0)); }},
  };
}

}  // namespace paddock::escapes
