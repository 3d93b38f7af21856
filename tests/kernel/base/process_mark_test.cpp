#include "kernel/base/process_mark.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

// A child that only waits; killed and reaped with its guard.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() { end(); }

  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("a process is known again by its mark until it has been reaped") {
  Sleeper sleeper;
  const auto mark = mark_of(sleeper.pid());
  REQUIRE(mark);
  CHECK(mark->pid == sleeper.pid());
  CHECK(mark->start_ticks > 0);
  CHECK(mark->boot_id.size() == 36);
  CHECK(is_same_process(*mark));
  CHECK(mark_of(sleeper.pid()) == mark);
  CHECK(open_marked(*mark));
  sleeper.end();
  CHECK_FALSE(is_same_process(*mark));
  CHECK_FALSE(open_marked(*mark));
  CHECK_FALSE(mark_of(mark->pid));
}

TEST_CASE("a pid that now belongs to a later process, or was seen before a reboot, is another's") {
  const Sleeper sleeper;
  const ProcessMark mark = mark_of(sleeper.pid()).value();
  ProcessMark earlier = mark;
  --earlier.start_ticks;
  CHECK_FALSE(is_same_process(earlier));
  CHECK_FALSE(open_marked(earlier));
  ProcessMark before_reboot = mark;
  before_reboot.boot_id = "00000000-0000-0000-0000-000000000000";
  CHECK_FALSE(is_same_process(before_reboot));
  CHECK_FALSE(open_marked(before_reboot));
}

TEST_CASE("a mark that names no process, or a group of them, is nobody") {
  for (const pid_t pid : {0, -1}) {
    ProcessMark mark = mark_of(::getpid()).value();
    mark.pid = pid;
    CHECK_FALSE(is_same_process(mark));
    CHECK_FALSE(open_marked(mark));
  }
}

TEST_CASE("a signal through an opened mark reaches the marked process") {
  const Sleeper sleeper;
  const Fd pidfd = open_marked(mark_of(sleeper.pid()).value());
  REQUIRE(pidfd);
  REQUIRE(::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGSTOP, nullptr, 0) == 0);
  siginfo_t info{};
  CHECK(::waitid(P_PID, static_cast<id_t>(sleeper.pid()), &info, WSTOPPED) == 0);
  CHECK(info.si_status == SIGSTOP);
}
