#include "escapes/runner/control.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "escapes/runner/audit.hpp"
#include "kernel/run/strays.hpp"

namespace paddock::escapes {
namespace {

using kernel::Fd;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Kind = Observation::Kind;

constexpr milliseconds control_time_max{30'000};

// What root mounts in a control stays in a mount namespace of its own.
void keep_mounts_private() {
  if (::geteuid() == 0 && ::unshare(CLONE_NEWNS) == 0)
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
}

[[noreturn]] void execute(const Stage& stage, const std::string& name, const std::string& channel) {
  std::vector<std::string> words = stage.arguments(Side::bait, "/dev/shm", channel);
  words.insert(words.begin(), {stage.attempt(), name});
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::setenv("HOME", stage.work().c_str(), 1);
  if (::chdir(stage.work().c_str()) == 0) ::execv(argv[0], argv.data());
  ::_exit(127);
}

// A parent that stands where a run's init would: an attempt may kill it.
class StandIn {
 public:
  StandIn(const Stage& stage, const std::string& name, const std::string& channel) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    output_ = Fd(ends[0]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    pid_ = ::fork();
    if (pid_ != 0) {
      ::close(ends[1]);
      return;
    }
    keep_mounts_private();
    const pid_t child = ::fork();
    if (child == 0) {
      ::setpgid(0, 0);
      ::dup2(ends[1], 1);
      execute(stage, name, channel);
    }
    ::close(ends[1]);
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGSEGV, SIG_DFL);  // sanitizers handle it
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::waitpid(child, nullptr, 0);
    ::kill(-child, SIGKILL);  // what a supervisor does that knows process groups only
    ::_exit(0);
  }

  pid_t pid() const { return pid_; }
  const std::string& text() const { return text_; }

  bool ended() {
    if (!ended_) ended_ = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
    return ended_;
  }

  void read() {
    char buffer[65536];
    ssize_t count = 0;
    while ((count = ::read(output_.get(), buffer, sizeof buffer)) > 0)
      text_.append(buffer, static_cast<std::size_t>(count));
  }

  // Until it has ended, `enough` holds or the time is up.
  void wait(const std::function<bool()>& enough, milliseconds limit = control_time_max) {
    const auto deadline = steady_clock::now() + limit;
    for (bool over = false; !over && steady_clock::now() < deadline;) {
      over = ended() || enough();
      pollfd polled{output_.get(), POLLIN, 0};
      if (!over && ::poll(&polled, 1, 1) > 0 && (polled.revents & POLLIN) == 0)
        std::this_thread::sleep_for(milliseconds(1));  // closed: only the end is left to wait for
      read();
    }
  }

  bool has(std::string_view word) const { return text_.find(word) != std::string::npos; }

 private:
  pid_t pid_ = -1;
  Fd output_;
  std::string text_;
  bool ended_ = false;
};

class Control {
 public:
  Control(Stage& stage, const Row& row, const std::string& channel)
      : stage_(stage), row_(row), channel_(channel) {}

  Observation run() {
    switch (row_.scenario) {
      case Scenario::report:
        return report();
      case Scenario::left_behind:
        return left_behind();
      case Scenario::endless:
        return endless();
      case Scenario::ignores_term:
        return ignores_term();
      case Scenario::supervisor_killed:
      case Scenario::supervisor_killed_early:
        return supervisor_killed();
      case Scenario::seen_by_second:
        return seen_by_second();
      case Scenario::seen_by_first:
        return seen_by_first();
    }
    return {};
  }

  void clean_up() const {
    const auto known = [this](pid_t pid) { return stage_.is_helper(pid); };
    while (kernel::kill_strays(known) > 0) std::this_thread::sleep_for(milliseconds(1));
  }

 private:
  StandIn start(const std::string& suffix = "") const {
    return {stage_, std::string(row_.name) + suffix, channel_};
  }

  std::vector<pid_t> living() const {
    return processes_of(stage_.attempt(), [this](pid_t pid) { return stage_.is_helper(pid); });
  }

  static Observation reported(const StandIn& control) {
    Observation seen = read_report(control.text());
    if (seen.kind == Kind::unclear) return {Kind::unclear, "", "no report from the control"};
    return seen;
  }

  Observation if_any_lives(const StandIn& control) const {
    Observation seen = reported(control);
    if (seen.kind != Kind::succeeded || !living().empty()) return seen;
    return {Kind::stopped, "gone", ""};
  }

  static Observation if_it_goes_on(StandIn& control) {
    Observation seen = reported(control);
    if (seen.kind != Kind::succeeded || !control.ended()) return seen;
    return {Kind::stopped, "gone", ""};
  }

  Observation report() const {
    StandIn control = start();
    control.wait([] { return false; });
    // An attempt that kills its parent has still to say so.
    for (int i = 0; i < 500 && read_report(control.text()).kind == Kind::unclear; ++i) {
      std::this_thread::sleep_for(milliseconds(1));
      control.read();
    }
    return reported(control);
  }

  Observation left_behind() const {
    StandIn control = start();
    control.wait([] { return false; });
    return if_any_lives(control);
  }

  Observation endless() const {
    StandIn control = start();
    control.wait([&] { return control.has("succeeded"); });
    control.wait([] { return false; }, milliseconds(50));
    return if_it_goes_on(control);
  }

  Observation ignores_term() const {
    StandIn control = start();
    control.wait([&] { return control.has("succeeded"); });
    for (const pid_t pid : living()) ::kill(pid, SIGTERM);
    control.wait([] { return false; }, milliseconds(50));
    return if_it_goes_on(control);
  }

  // A parent that is killed as a supervisor could be.
  Observation supervisor_killed() const {
    StandIn control = start();
    control.wait([&] { return control.has("succeeded"); });
    ::kill(control.pid(), SIGKILL);
    control.wait([] { return false; });
    return if_any_lives(control);
  }

  Observation seen_by_second() const {
    StandIn first = start("_hold");
    first.wait([&] { return first.has("ready"); });
    if (!first.has("ready")) return reported(first);
    StandIn second = start();
    second.wait([] { return false; });
    return reported(second);
  }

  Observation seen_by_first() const {
    StandIn first = start();
    first.wait([&] { return first.has("ready"); });
    if (!first.has("ready")) return reported(first);
    StandIn second = start("_touch");
    first.wait([] { return false; });
    return reported(first);
  }

  Stage& stage_;
  const Row& row_;
  const std::string& channel_;
};

}  // namespace

Observation run_control(Stage& stage, const Row& row, const std::string& channel) {
  Control control(stage, row, channel);
  Observation seen = control.run();
  control.clean_up();
  Stage::remove_shared(channel);
  stage.restore(Side::bait);
  return seen;
}

}  // namespace paddock::escapes
