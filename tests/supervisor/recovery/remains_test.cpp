// Real processes that look like what a killed daemon left.

#include "supervisor/recovery/remains.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "kernel/base/process_tree.hpp"
#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"
#include "support/host_support.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

const std::string left_run = "r-0123456789abcdef";

// A shell; its descendants that lose their parents come to this process.
class Shell {
 public:
  explicit Shell(const std::string& script, uid_t uid = 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      if (uid != 0 && ::setresuid(uid, uid, uid) != 0) ::_exit(1);
      ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
      ::_exit(127);
    }
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() {
    kernel::kill_tree(pid_);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  kernel::ProcessMark mark() const { return kernel::mark_of(pid_).value(); }
  bool is_alive() const {
    const auto stat = kernel::stat_of(pid_);
    return stat && stat->state != 'Z' && stat->state != 'X';
  }
  void wait_for_children(std::size_t count) const {
    while (kernel::children_of(pid_).size() < count) std::this_thread::sleep_for(milliseconds(5));
  }

 private:
  pid_t pid_ = -1;
};

constexpr milliseconds patience{300};

Reach reach() {
  Reach reach;
  reach.patience = patience;
  return reach;
}

}  // namespace

TEST_CASE("nothing to look for takes no time") {
  const auto begin = steady_clock::now();
  CHECK(end_what_is_left({}, Reach{}).empty());
  CHECK(end_what_is_left({{.id = left_run, .marks = {}, .host_uid = std::nullopt}}, Reach{}) ==
        std::map<std::string, Remains>{{left_run, Remains{.killed = 0, .gone = true}}});
  CHECK(steady_clock::now() - begin < milliseconds(1500));
}

TEST_CASE("a marked process is killed with all below it, when its time to end by itself is over") {
  const Shell launcher("trap '' TERM; sleep 300 & sleep 300 & wait; sleep 300");
  launcher.wait_for_children(2);
  const auto begin = steady_clock::now();
  const auto remains = end_what_is_left(
      {{.id = left_run, .marks = {launcher.mark()}, .host_uid = std::nullopt}}, reach());
  CHECK(steady_clock::now() - begin >= patience);
  CHECK(remains.at(left_run).gone);
  CHECK(remains.at(left_run).killed >= 3);
  CHECK_FALSE(launcher.is_alive());
}

TEST_CASE("a launcher that ends by itself in time is not killed") {
  const Shell launcher("sleep 0.1");
  const auto remains = end_what_is_left(
      {{.id = left_run, .marks = {launcher.mark()}, .host_uid = std::nullopt}}, Reach{});
  CHECK(remains.at(left_run) == Remains{.killed = 0, .gone = true});
}

TEST_CASE("a launcher that was stopped is woken, and ends by itself") {
  const Shell launcher("sleep 0.2; exit");
  launcher.wait_for_children(1);
  REQUIRE(::kill(launcher.pid(), SIGSTOP) == 0);
  const auto remains = end_what_is_left(
      {{.id = left_run, .marks = {launcher.mark()}, .host_uid = std::nullopt}}, Reach{});
  CHECK(remains.at(left_run) == Remains{.killed = 0, .gone = true});
}

TEST_CASE("a process that has got a recorded pid since is not touched") {
  const Shell stranger("sleep 300");
  kernel::ProcessMark older = stranger.mark();
  --older.start_ticks;
  const auto remains =
      end_what_is_left({{.id = left_run, .marks = {older}, .host_uid = std::nullopt}}, reach());
  CHECK(remains.at(left_run) == Remains{.killed = 0, .gone = true});
  CHECK(stranger.is_alive());
}

TEST_CASE("as root, what still runs under the run's own host uid is killed, and nothing else") {
  NEEDS(::geteuid() == 0, tests::needs_root);
  const ScratchDirectory locks;
  const kernel::HostUidRange range;
  const uid_t uid = range.first + range.count - 1;
  const Shell before("sleep 300", uid);
  std::this_thread::sleep_for(milliseconds(50));  // start times are in hundredths of a second
  const Shell agent("sleep 300", uid);
  const Shell other("sleep 300", uid - 1);
  kernel::ProcessMark gone = agent.mark();
  gone.pid = 4'000'000;  // the launcher, which is gone
  Reach reach = ::reach();
  reach.host_uid_locks = locks.path();
  const std::vector<LeftRun> left = {{.id = left_run, .marks = {gone}, .host_uid = uid}};
  {
    const auto held = kernel::HostUidLease::share(uid, locks.path());
    REQUIRE(held);
    CHECK(end_what_is_left(left, reach).at(left_run).killed == 0);
    CHECK(agent.is_alive());
  }
  const auto remains = end_what_is_left(left, reach);
  CHECK(remains.at(left_run).gone);
  CHECK(remains.at(left_run).killed >= 1);
  CHECK_FALSE(agent.is_alive());
  CHECK(other.is_alive());
  CHECK(before.is_alive());
}
