// The filters in a real kernel, each in a child that does nothing else.

#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>

#include "kernel/confine/seccomp_filters.hpp"
#include "support/catch.hpp"
#include "support/host_support.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

constexpr SeccompUse both_lists[] = {SeccompUse::strict, SeccompUse::default_list};

constexpr int filter_not_loaded = 200;

// The wait status of a child that is under the filter and exits with what `act` returns.
int status_under(SeccompUse use, const std::function<int()>& act) {
  std::vector<sock_filter> program = filter_of(use);
  const pid_t child = ::fork();
  if (child == 0) {
    const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                            .filter = program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        (!program.empty() && ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0))
      ::_exit(filter_not_loaded);
    ::_exit(act());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

// 0, or the errno that it failed with.
int exit_code_under(SeccompUse use, const std::function<long()>& call) {
  const int status = status_under(use, [&] { return call() >= 0 ? 0 : errno; });
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the kernel takes the filters, and ordinary calls work behind them") {
  for (const SeccompUse use : both_lists)
    CHECK(exit_code_under(use, [] { return ::syscall(SYS_getpid); }) == 0);
}

TEST_CASE("no filter refuses a user namespace, both lists do") {
  const auto make_one = [] { return static_cast<long>(::unshare(CLONE_NEWUSER)); };
  NEEDS(exit_code_under(SeccompUse::off, make_one) == 0, "no user namespaces");
  for (const SeccompUse use : both_lists) CHECK(exit_code_under(use, make_one) == EPERM);
}

TEST_CASE("clone3 does not exist behind a filter") {
  const auto clone3 = [] {
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid == 0) ::_exit(0);
    return pid;
  };
  CHECK(exit_code_under(SeccompUse::off, clone3) == 0);
  for (const SeccompUse use : both_lists) CHECK(exit_code_under(use, clone3) == ENOSYS);
}

TEST_CASE("an unknown number does not exist behind a filter") {
  for (const SeccompUse use : both_lists)
    CHECK(exit_code_under(use, [] { return ::syscall(9999); }) == ENOSYS);
}

TEST_CASE("loading a module kills under STRICT and is refused under the default list") {
  const auto load = [] { return ::syscall(SYS_init_module, nullptr, 0, ""); };
  const int status = status_under(SeccompUse::strict, [&] { return static_cast<int>(load()); });
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS));
  CHECK(exit_code_under(SeccompUse::default_list, load) == EPERM);
}

TEST_CASE("a 32-bit system call kills") {
#if defined(__x86_64__)
  const auto getpid_of_i386 = [] {
    long result = 20;
    asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result > 0 ? 0 : 1;
  };
  const int free = status_under(SeccompUse::off, getpid_of_i386);
  NEEDS(WIFEXITED(free) && WEXITSTATUS(free) == 0, "the kernel runs no 32-bit programs");
  for (const SeccompUse use : both_lists) {
    const int status = status_under(use, getpid_of_i386);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS));
  }
#else
  unsupported(needs_x86_64);
#endif
}

TEST_CASE("an x32 system call kills even where the kernel has none") {
#if defined(__x86_64__)
  for (const SeccompUse use : both_lists) {
    const int status =
        status_under(use, [] { return static_cast<int>(::syscall(0x40000000 + SYS_getpid)); });
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS));
  }
#else
  unsupported(needs_x86_64);
#endif
}
