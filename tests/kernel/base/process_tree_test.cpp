#include "kernel/base/process_tree.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <vector>

#include "kernel/base/fd.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

void burn_cpu(double seconds) {
  const std::clock_t end =
      std::clock() + static_cast<std::clock_t>(seconds * static_cast<double>(CLOCKS_PER_SEC));
  while (std::clock() < end) {
  }
}

// As RLIMIT_CPU counts it, which on a busy host can be a quarter more or less.
void burn_counted_cpu(std::uint64_t us) {
  while (own_cpu_us(::getpid()) < us) {
  }
}

[[noreturn]] void sleep_for_ever() {
  for (;;) ::pause();
}

// A child that has a child, both asleep; returns the child's pid once both are there.
pid_t start_family(pid_t& grandchild) {
  const auto ready = make_pipe();
  REQUIRE(ready);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NAME, "odd) Z 1 (name", 0, 0, 0);  // what a hostile process calls itself
    const pid_t own = ::fork();
    if (own == 0) sleep_for_ever();
    if (::write(ready->write_end.get(), &own, sizeof own) != sizeof own) ::_exit(1);
    sleep_for_ever();
  }
  REQUIRE(::read(ready->read_end.get(), &grandchild, sizeof grandchild) == sizeof grandchild);
  return child;
}

}  // namespace

TEST_CASE("children are listed, and only children") {
  pid_t grandchild = -1;
  const pid_t child = start_family(grandchild);
  CHECK(children_of(child) == std::vector<pid_t>{grandchild});
  const std::vector<pid_t> own = children_of(::getpid());
  CHECK(std::find(own.begin(), own.end(), child) != own.end());
  CHECK(std::find(own.begin(), own.end(), grandchild) == own.end());
  CHECK(kill_tree(child) == 2);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("killing a tree ends every process in it, whatever it is called") {
  // Method: with this process as subreaper, the grandchild is reaped here and its end is seen.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  pid_t grandchild = -1;
  const pid_t child = start_family(grandchild);
  CHECK(kill_tree(child) == 2);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  REQUIRE(::waitpid(grandchild, &status, 0) == grandchild);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0);
}

TEST_CASE("killing the descendants spares the root") {
  pid_t grandchild = -1;
  const pid_t child = start_family(grandchild);
  CHECK(kill_descendants(child) == 1);
  int status = 0;
  CHECK(::waitpid(child, &status, WNOHANG) == 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("the dead are not counted as living") {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(kill_tree(child) == 0);
  ::waitpid(child, nullptr, 0);
  CHECK(kill_tree(child) == 0);
}

TEST_CASE("the CPU time of a process is its own, without that of its children") {
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t own = ::fork();
    if (own == 0) {
      burn_counted_cpu(300'000);
      ::_exit(0);
    }
    ::waitpid(own, nullptr, 0);
    ::_exit(0);
  }
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(own_cpu_us(child) < 200'000);
  ::waitpid(child, nullptr, 0);

  const pid_t burner = ::fork();
  if (burner == 0) {
    burn_counted_cpu(300'000);
    ::_exit(0);
  }
  REQUIRE(::waitid(P_PID, static_cast<id_t>(burner), &info, WEXITED | WNOWAIT) == 0);
  CHECK(own_cpu_us(burner) >= 300'000);  // also of a zombie
  ::waitpid(burner, nullptr, 0);
  CHECK(own_cpu_us(burner) == 0);
}

TEST_CASE("the state, the parent and the place in the tree of a process can be read") {
  pid_t grandchild = -1;
  const pid_t child = start_family(grandchild);
  const auto stat = stat_of(child);
  REQUIRE(stat);
  CHECK(stat->parent == ::getpid());
  CHECK(stat_of(grandchild)->parent == child);
  CHECK(is_in_tree(grandchild, child));
  CHECK(is_in_tree(grandchild, ::getpid()));
  CHECK(is_in_tree(child, child));
  CHECK_FALSE(is_in_tree(child, grandchild));
  CHECK_FALSE(is_in_tree(::getpid(), child));
  CHECK_FALSE(is_in_tree(0, child));
  ::kill(child, SIGSTOP);
  siginfo_t info{};
  CHECK(::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED) == 0);
  CHECK(stat_of(child)->state == 'T');
  kill_tree(child);
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(stat_of(child));
}

TEST_CASE("the CPU time of a tree has that of its living and of those that it has waited for") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const pid_t waited_for = ::fork();
    if (waited_for == 0) {
      burn_cpu(0.15);
      ::_exit(0);
    }
    ::waitpid(waited_for, nullptr, 0);
    if (::fork() == 0) {
      burn_cpu(0.15);
      sleep_for_ever();
    }
    sleep_for_ever();
  }
  std::optional<TreeCpu> cpu;
  for (int i = 0; i < 1000; ++i) {
    cpu = cpu_of_tree(child);
    REQUIRE(cpu);
    if (cpu->used_us >= 250'000) break;
    ::usleep(10'000);
  }
  CHECK(cpu->used_us >= 250'000);
  CHECK(cpu->used_us < 600'000);
  kill_tree(child);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("CPU time below a tick of the clock is counted too") {
  // Method: fifty processes of 5 ms each; a tick is 10 ms.
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (int i = 0; i < 50; ++i) {
      if (::fork() == 0) {
        burn_cpu(0.005);
        sleep_for_ever();
      }
    }
    sleep_for_ever();
  }
  std::optional<TreeCpu> cpu;
  for (int i = 0; i < 1000; ++i) {
    cpu = cpu_of_tree(child);
    REQUIRE(cpu);
    if (cpu->used_us >= 240'000) break;
    ::usleep(10'000);
  }
  CHECK(cpu->used_us >= 240'000);
  kill_tree(child);
  ::waitpid(child, nullptr, 0);
}
