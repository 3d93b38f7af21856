// What a program has from its parent, besides its environment.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "kernel/base/fd.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

// Also of the signals that the C library keeps to itself. glibc's posix_spawn leaves them ignored.
void set_disposition(int signal, sighandler_t handler) {
  unsigned long action[4] = {reinterpret_cast<unsigned long>(handler)};  // the kernel's struct
  REQUIRE(::syscall(SYS_rt_sigaction, signal, action, nullptr, sizeof action[0]) == 0);
}

}  // namespace

TEST_CASE("a program has the descriptors 0, 1 and 2, whatever its supervisor has open") {
  // Method: many descriptors that every child inherits, on all the numbers that matter.
  std::vector<Fd> open;
  for (int i = 0; i < 40; ++i) open.emplace_back(::open("/etc/passwd", O_RDONLY));
  open.emplace_back(::fcntl(open[0].get(), F_DUPFD, 250));
  open.emplace_back(::open("/", O_RDONLY | O_DIRECTORY));
  REQUIRE(open[40]);
  for (const char* profile : profiles) {
    INFO(profile);
    CHECK(values_in(run(policy_of(profile), {program("show_state")}).stdout)["fds"] == "0,1,2");
  }
}

TEST_CASE("a program starts with no signal blocked, ignored or caught") {
  sigset_t set;
  sigset_t before;
  sigfillset(&set);
  sigdelset(&set, SIGINT);
  REQUIRE(::sigprocmask(SIG_SETMASK, &set, &before) == 0);
  for (const int signal : {SIGINT, SIGPIPE, SIGHUP, SIGUSR1, SIGRTMAX})
    std::signal(signal, SIG_IGN);
  for (const int signal : {32, 33}) set_disposition(signal, SIG_IGN);
  for (const char* profile : profiles) {
    INFO(profile);
    auto seen = values_in(run(policy_of(profile), {program("show_state")}).stdout);
    CHECK(seen["SigBlk"] == "0000000000000000");
    CHECK(seen["SigIgn"] == "0000000000000000");
    CHECK(seen["SigCgt"] == "0000000000000000");
  }
  for (const int signal : {SIGINT, SIGPIPE, SIGHUP, SIGUSR1, SIGRTMAX})
    std::signal(signal, SIG_DFL);
  for (const int signal : {32, 33}) set_disposition(signal, SIG_DFL);
  REQUIRE(::sigprocmask(SIG_SETMASK, &before, nullptr) == 0);
}

TEST_CASE("a program leads a session and a process group of its own, with the usual umask") {
  const mode_t before = ::umask(0);
  for (const char* profile : profiles) {
    INFO(profile);
    auto seen = values_in(run(policy_of(profile), {program("show_state")}).stdout);
    CHECK(seen["leads_session"] == "1");
    CHECK(seen["leads_group"] == "1");
    CHECK(seen["umask"] == "022");
    SandboxPolicy policy = policy_of(profile);
    policy.new_session = false;
    seen = values_in(run(policy, {program("show_state")}).stdout);
    CHECK(seen["leads_session"] == "0");
    CHECK(seen["leads_group"] == "1");
  }
  ::umask(before);
}

TEST_CASE("a program starts where the policy says") {
  CHECK(values_in(run(policy_of("STRICT"), {program("show_state")}).stdout)["cwd"] == "/workspace");
  SandboxPolicy in_tmp = policy_of("STRICT");
  in_tmp.workdir = "/tmp";
  CHECK(values_in(run(in_tmp, {program("show_state")}).stdout)["cwd"] == "/tmp");
  CHECK(values_in(
            run(policy_of("DEFAULT"), {program("show_state")}, {.cwd = "/usr"}).stdout)["cwd"] ==
        "/usr");
  // Else in a directory of its own, which is its HOME, can be written, and is gone afterwards.
  const SandboxResult own =
      run(policy_of("DEFAULT"), {"sh", "-c", "touch file && test \"$HOME\" = \"$PWD\" && pwd"});
  const std::string directory = one_line(own.stdout);
  CHECK(directory.find("/paddock-") != std::string::npos);
  CHECK(::access(directory.c_str(), F_OK) != 0);
}

TEST_CASE("only STRICT hides the host's name") {
  char host_name[256] = {};
  REQUIRE(::gethostname(host_name, sizeof host_name - 1) == 0);
  CHECK(values_in(run(policy_of("DEFAULT"), {program("show_state")}).stdout)["hostname"] ==
        host_name);
  CHECK(values_in(run(policy_of("STRICT"), {program("show_state")}).stdout)["hostname"] ==
        "sandbox");
}

TEST_CASE("a supervisor that ignores SIGCHLD has the same results, without a delay") {
  // Goal: the kernel then keeps no exit status. What paddock-launch said counts.
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  for (const char* profile : profiles) {
    INFO(profile);
    const std::string marker = make_marker();
    const auto begin = Clock::now();
    const SandboxResult result =
        run(policy_of(profile), {program("leave_behind"), "setsid", marker});
    CHECK(result.cause == Cause::exited);
    CHECK(result.exit_code == 0);
    CHECK_FALSE(result.survivors_unproved);
    CHECK(processes_with(marker).empty());
    CHECK(Clock::now() - begin < std::chrono::milliseconds(1500));
  }
  std::signal(SIGCHLD, before);
}
