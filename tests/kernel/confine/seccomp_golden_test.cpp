// Everything that a filter says, in a form that a reviewer can read and diff. x86-64 alone: another
// architecture has other numbers.

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

#include <algorithm>
#include <functional>

#include "kernel/confine/seccomp_evaluator.hpp"
#include "kernel/confine/seccomp_filters.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/host_support.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

using Program = std::vector<sock_filter>;

constexpr bool on_x86_64 =
#if defined(__x86_64__)
    true;
#else
    false;
#endif

constexpr std::uint64_t high = std::uint64_t{1}
                               << 32;  // what the kernel drops of a 32-bit argument

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

// Neighbours without a name and with one verdict share a line.
std::string numbers_text(const Program& program) {
  std::string text;
  for (std::uint32_t first = 0; first < 1024;) {
    const std::string verdict = verdict_of(program, {.number = first});
    const auto name = syscall_name(first);
    std::uint32_t end = first + 1;
    while (!name && end < 1024 && !syscall_name(end) &&
           verdict_of(program, {.number = end}) == verdict)
      ++end;
    std::string range = std::to_string(first);
    if (end > first + 1) range += "-" + std::to_string(end - 1);
    text += padded(range, 9) + padded(name.value_or("-"), 24) + verdict + "\n";
    first = end;
  }
  return text;
}

std::string special_text(const Program& program) {
  const auto line = [&](const std::string& what, const Call& call) {
    return padded(what, 33) + verdict_of(program, call) + "\n";
  };
  constexpr std::uint32_t x32 = 0x40000000;
  return line("9999", {.number = 9999}) + line("0x3fffffff", {.number = x32 - 1}) +
         line("-1", {.number = ~0u}) + line("x32 read", {.number = x32}) +
         line("x32 getpid", {.number = x32 + 39}) + line("x32 execve", {.number = x32 + 520}) +
         line("x32 -2", {.number = ~0u - 1}) +
         line("i386 getpid", {.number = 20, .architecture = AUDIT_ARCH_I386}) +
         line("i386 9999", {.number = 9999, .architecture = AUDIT_ARCH_I386}) +
         line("i386 -1", {.number = ~0u, .architecture = AUDIT_ARCH_I386}) +
         line("aarch64 getpid", {.number = 172, .architecture = AUDIT_ARCH_AARCH64});
}

struct Case {
  const char* name;
  const char* arguments;
  Arguments values;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"clone", "SIGCHLD", {17}},
      {"clone", "CLONE_VM|FS|FILES|SIGHAND|THREAD|...", {0x3d0f00}},
      {"clone", "CLONE_NEWNS", {CLONE_NEWNS | 17}},
      {"clone", "CLONE_NEWCGROUP", {CLONE_NEWCGROUP | 17}},
      {"clone", "CLONE_NEWUTS", {CLONE_NEWUTS | 17}},
      {"clone", "CLONE_NEWIPC", {CLONE_NEWIPC | 17}},
      {"clone", "CLONE_NEWUSER", {CLONE_NEWUSER | 17}},
      {"clone", "CLONE_NEWPID", {CLONE_NEWPID | 17}},
      {"clone", "CLONE_NEWNET", {CLONE_NEWNET | 17}},
      {"clone", "CLONE_NEWTIME", {CLONE_NEWTIME | 17}},
      {"clone", "CLONE_NEWUSER, high bits", {high | CLONE_NEWUSER}},
      {"clone", "SIGCHLD, high bits", {high | 17}},

      {"ioctl", "TIOCSTI", {0, TIOCSTI}},
      {"ioctl", "TIOCSTI, high bits", {0, high | TIOCSTI}},
      {"ioctl", "TIOCSTI, all high bits", {0, 0xffffffff00000000 | TIOCSTI}},
      {"ioctl", "TIOCLINUX", {0, TIOCLINUX}},
      {"ioctl", "TIOCLINUX, high bits", {0, high | TIOCLINUX}},
      {"ioctl", "TIOCCONS", {0, TIOCCONS}},
      {"ioctl", "TIOCCONS, high bits", {0, high | TIOCCONS}},
      {"ioctl", "TIOCSETD", {0, TIOCSETD}},
      {"ioctl", "TIOCSETD, high bits", {0, high | TIOCSETD}},
      {"ioctl", "TCGETS", {0, TCGETS}},
      {"ioctl", "TIOCGWINSZ", {0, TIOCGWINSZ}},
      {"ioctl", "FIONREAD", {0, FIONREAD}},

      {"fcntl", "F_GETFL", {0, F_GETFL}},
      {"fcntl", "F_SETLK", {0, F_SETLK}},
      {"fcntl", "F_SETLEASE", {0, 1024}},
      {"fcntl", "F_SETLEASE, high bits", {0, high | 1024}},
      {"fcntl", "F_NOTIFY", {0, 1026}},
      {"fcntl", "F_NOTIFY, high bits", {0, high | 1026}},
      {"fcntl", "F_ADD_SEALS", {0, 1033}},

      {"chmod", "0777", {0, 0777}},
      {"chmod", "01777", {0, 01777}},
      {"chmod", "04755", {0, 04755}},
      {"chmod", "02755", {0, 02755}},
      {"chmod", "04755, high bits", {0, high | 04755}},
      {"chmod", "0755, high bits", {0, high | 0755}},
      {"fchmod", "0777", {0, 0777}},
      {"fchmod", "04755", {0, 04755}},
      {"fchmod", "02755", {0, 02755}},
      {"fchmodat", "0777", {0, 04755, 0777}},
      {"fchmodat", "04755", {0, 0, 04755}},
      {"fchmodat", "02755", {0, 0, 02755}},
      {"fchmodat2", "0777", {0, 0, 0777}},
      {"fchmodat2", "04755", {0, 0, 04755}},
      {"fchmodat2", "02755", {0, 0, 02755}},
      {"creat", "0666", {0, 0666}},
      {"creat", "04755", {0, 04755}},
      {"open", "O_RDONLY, any mode", {0, O_RDONLY, 07777}},
      {"open", "O_CREAT, 0666", {0, O_CREAT | O_WRONLY, 0666}},
      {"open", "O_CREAT, 04755", {0, O_CREAT | O_WRONLY, 04755}},
      {"open", "O_CREAT, 02755", {0, O_CREAT | O_WRONLY, 02755}},
      {"open", "O_CREAT and 04755, high bits", {0, high | O_CREAT, high | 04755}},
      {"open", "O_TMPFILE, 0600", {0, O_TMPFILE | O_RDWR, 0600}},
      {"open", "O_TMPFILE, 04755", {0, O_TMPFILE | O_RDWR, 04755}},
      {"open", "O_DIRECTORY, any mode", {0, O_DIRECTORY, 07777}},
      {"openat", "O_RDONLY, any mode", {0, 0, O_RDONLY, 07777}},
      {"openat", "O_CREAT, 0666", {0, 0, O_CREAT | O_WRONLY, 0666}},
      {"openat", "O_CREAT, 04755", {0, 0, O_CREAT | O_WRONLY, 04755}},
      {"openat", "O_CREAT, 02755", {0, 0, O_CREAT | O_WRONLY, 02755}},
      {"openat", "O_CREAT and 04755, high bits", {0, 0, high | O_CREAT, high | 04755}},
      {"openat", "O_TMPFILE, 0600", {0, 0, O_TMPFILE | O_RDWR, 0600}},
      {"openat", "O_TMPFILE, 04755", {0, 0, O_TMPFILE | O_RDWR, 04755}},
      {"openat", "O_DIRECTORY, any mode", {0, 0, O_DIRECTORY, 07777}},
      {"mknod", "a file", {0, S_IFREG | 0600}},
      {"mknod", "a file, kind 0", {0, 0600}},
      {"mknod", "a FIFO", {0, S_IFIFO | 0600}},
      {"mknod", "a socket", {0, S_IFSOCK | 0600}},
      {"mknod", "a character device", {0, S_IFCHR | 0600}},
      {"mknod", "a block device", {0, S_IFBLK | 0600}},
      {"mknod", "a block device, high bits", {0, high | S_IFBLK | 0600}},
      {"mknod", "a file, 04755", {0, S_IFREG | 04755}},
      {"mknodat", "a file", {0, 0, S_IFREG | 0600}},
      {"mknodat", "a FIFO", {0, 0, S_IFIFO | 0600}},
      {"mknodat", "a character device", {0, 0, S_IFCHR | 0600}},
      {"mknodat", "a block device", {0, 0, S_IFBLK | 0600}},
      {"mknodat", "a file, 02755", {0, 0, S_IFREG | 02755}},

      {"prlimit64", "itself", {0}},
      {"prlimit64", "itself, high bits", {high}},
      {"prlimit64", "pid 1", {1}},
      {"prlimit64", "pid -1", {~std::uint64_t{0}}},

      {"personality", "PER_LINUX", {0}},
      {"personality", "0xffffffff (read it)", {0xffffffff}},
      {"personality", "-1 (read it)", {~std::uint64_t{0}}},
      {"personality", "ADDR_NO_RANDOMIZE", {ADDR_NO_RANDOMIZE}},
      {"personality", "READ_IMPLIES_EXEC", {READ_IMPLIES_EXEC}},
      {"personality", "READ_IMPLIES_EXEC, high bits", {high | READ_IMPLIES_EXEC}},
      {"personality", "MMAP_PAGE_ZERO", {MMAP_PAGE_ZERO}},
      {"personality", "PER_LINUX32", {PER_LINUX32}},

      {"prctl", "PR_SET_PDEATHSIG", {PR_SET_PDEATHSIG}},
      {"prctl", "PR_GET_PDEATHSIG", {PR_GET_PDEATHSIG}},
      {"prctl", "PR_GET_DUMPABLE", {PR_GET_DUMPABLE}},
      {"prctl", "PR_SET_DUMPABLE", {PR_SET_DUMPABLE}},
      {"prctl", "PR_SET_KEEPCAPS", {PR_SET_KEEPCAPS}},
      {"prctl", "PR_SET_NAME", {PR_SET_NAME}},
      {"prctl", "PR_SET_NAME, high bits", {high | PR_SET_NAME}},
      {"prctl", "PR_GET_NAME", {PR_GET_NAME}},
      {"prctl", "PR_GET_SECCOMP", {PR_GET_SECCOMP}},
      {"prctl", "PR_SET_SECCOMP", {PR_SET_SECCOMP}},
      {"prctl", "PR_CAPBSET_READ", {PR_CAPBSET_READ}},
      {"prctl", "PR_CAPBSET_DROP", {PR_CAPBSET_DROP}},
      {"prctl", "PR_SET_TSC", {PR_SET_TSC}},
      {"prctl", "PR_SET_TIMERSLACK", {PR_SET_TIMERSLACK}},
      {"prctl", "PR_SET_MM", {PR_SET_MM}},
      {"prctl", "PR_SET_CHILD_SUBREAPER", {PR_SET_CHILD_SUBREAPER}},
      {"prctl", "PR_SET_NO_NEW_PRIVS", {PR_SET_NO_NEW_PRIVS}},
      {"prctl", "PR_GET_NO_NEW_PRIVS", {PR_GET_NO_NEW_PRIVS}},
      {"prctl", "PR_SET_THP_DISABLE", {PR_SET_THP_DISABLE}},
      {"prctl", "PR_CAP_AMBIENT", {PR_CAP_AMBIENT}},
      {"prctl", "PR_SET_SPECULATION_CTRL", {PR_SET_SPECULATION_CTRL}},
      {"prctl", "PR_SCHED_CORE", {62}},
      {"prctl", "PR_SET_PTRACER", {PR_SET_PTRACER}},
      {"prctl", "PR_SET_VMA", {0x53564d41}},

      {"seccomp", "SECCOMP_SET_MODE_FILTER", {SECCOMP_SET_MODE_FILTER, 0}},
      {"seccomp", "... SECCOMP_FILTER_FLAG_TSYNC", {1, SECCOMP_FILTER_FLAG_TSYNC}},
      {"seccomp", "... SECCOMP_FILTER_FLAG_NEW_LISTENER", {1, SECCOMP_FILTER_FLAG_NEW_LISTENER}},
      {"seccomp", "... NEW_LISTENER, high bits", {1, high | SECCOMP_FILTER_FLAG_NEW_LISTENER}},

      {"shmget", "64 KiB", {0, 64u << 10}},
      {"shmget", "64 KiB and a byte", {0, (64u << 10) + 1}},
      {"shmget", "4 GiB", {0, high}},
  };
  return all;
}

std::string arguments_text(const Program& program) {
  std::string text;
  for (const Case& each : cases())
    text += padded(std::string(each.name) + "(" + each.arguments + ")", 52) +
            verdict_of(program, {syscall_number(each.name).value(), each.values}) + "\n";
  return text;
}

// "name(what 3-7)   verdict" for neighbours with one verdict.
std::string range_text(const Program& program, const char* name, const std::string& what,
                       std::uint64_t last, const std::function<Arguments(std::uint64_t)>& with) {
  const std::uint32_t number = syscall_number(name).value();
  const auto verdict = [&](std::uint64_t value) {
    return verdict_of(program, {number, with(value)});
  };
  std::string text;
  for (std::uint64_t first = 0; first <= last;) {
    std::uint64_t end = first + 1;
    while (end <= last && verdict(end) == verdict(first)) ++end;
    std::string range = std::to_string(first);
    if (end > first + 1) range += "-" + std::to_string(end - 1);
    text += padded(std::string(name) + "(" + what + range + ")", 52) + verdict(first) + "\n";
    first = end;
  }
  return text;
}

std::string sockets_text(const Program& program) {
  constexpr std::uint64_t last_family = 100;
  constexpr std::uint64_t last_protocol = 300;
  std::string text;
  for (const char* call : {"socket", "socketpair"}) {
    for (const std::uint64_t bits : {std::uint64_t{0}, high})
      text += range_text(program, call, bits == 0 ? "family " : "high bits | family ", last_family,
                         [&](std::uint64_t family) { return Arguments{bits | family}; });
    for (const auto& [family, name] : {std::pair{AF_UNIX, "AF_UNIX"},
                                       {AF_INET, "AF_INET"},
                                       {AF_INET6, "AF_INET6"},
                                       {AF_NETLINK, "AF_NETLINK"}})
      for (const std::uint64_t bits : {std::uint64_t{0}, high})
        text += range_text(
            program, call, std::string(name) + ", protocol " + (bits == 0 ? "" : "high bits | "),
            last_protocol, [family = family, bits](std::uint64_t protocol) {
              return Arguments{static_cast<std::uint64_t>(family), SOCK_STREAM, bits | protocol};
            });
  }
  return text;
}

std::string whole_text(const Program& program) {
  return "# What the filter says to each number, all arguments 0.\n" + numbers_text(program) +
         "\n# Other numbers and architectures.\n" + special_text(program) +
         "\n# Arguments that matter. High bits: those above 32, which the kernel drops.\n" +
         arguments_text(program) + "\n# Socket families and protocols.\n" + sockets_text(program);
}

}  // namespace

TEST_CASE("the STRICT filter says exactly this to every call") {
  NEEDS(on_x86_64, needs_x86_64);
  check_golden("seccomp-strict.x86_64", whole_text(filter_of(SeccompUse::strict)));
}

TEST_CASE("the default filter says exactly this to every call") {
  NEEDS(on_x86_64, needs_x86_64);
  check_golden("seccomp-default.x86_64", whole_text(filter_of(SeccompUse::default_list)));
}
