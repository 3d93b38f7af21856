// NPROC and fork bombs.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::milliseconds;

namespace {

// Processes of this user that have nothing to do with any run.
class Bystanders {
 public:
  explicit Bystanders(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::alarm(60);
        for (;;) ::pause();
      }
      if (pid > 0) pids_.push_back(pid);
    }
  }
  ~Bystanders() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  std::size_t count() const { return pids_.size(); }

 private:
  std::vector<pid_t> pids_;
};

bool can_fork() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  return pid > 0 && ::waitpid(pid, nullptr, 0) == pid;
}

}  // namespace

TEST_CASE("NPROC counts a run alone: two at once each have all of theirs") {
  // Method: this user has 50 other processes, and both runs hold all that they can get until both
  // have been refused. Of nproc = 16 the init takes one and the agent another.
  const Bystanders bystanders(50);
  REQUIRE(bystanders.count() == 50);
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    policy.nproc = 16;
    std::string outputs[2];
    std::vector<std::unique_ptr<Run>> runs;
    for (std::string& output : outputs) {
      RunOptions options;
      options.stdin_stays_open = true;
      options.on_output = [&output](Stream, std::string_view bytes) { output += bytes; };
      auto started = sandbox.start(policy, {program("count_processes")}, "",
                                   "count-" + std::to_string(runs.size()), std::move(options));
      REQUIRE(started);
      runs.push_back(std::move(*started));
    }
    drive_all({runs[0].get(), runs[1].get()}, [&] {
      if (outputs[0].empty() || outputs[1].empty()) return;
      for (const auto& run : runs) run->close_stdin();
    });
    for (const std::string& output : outputs) CHECK(output == "14 EAGAIN\n");
    for (const auto& run : runs) CHECK(run->take_result().cause == Cause::exited);
  }
}

TEST_CASE("a fork bomb stays in its run and ends with it, while others go on forking") {
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    SandboxPolicy bombed = policy_of(profile);
    bombed.wall_clock = milliseconds(700);
    bombed.grace = milliseconds(100);
    const auto bomb =
        sandbox.start(bombed, {program("fork_bomb"), marker}, "", "bomb", RunOptions{}).value();

    // A second run that starts and ends processes while the bomb is at work.
    const auto neighbour =
        sandbox
            .start(policy_of(profile),
                   {"sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true || exit 1; done"}, "",
                   "neighbour", RunOptions{})
            .value();
    std::size_t most = 0;
    bool forked = true;
    bool neighbour_ended_in_time = false;
    drive_all({bomb.get(), neighbour.get()}, [&] {
      if (!bomb->finished() && bomb->started())
        most = std::max(most, processes_with(marker).size());
      forked = forked && can_fork();
      if (neighbour->finished() && !bomb->finished()) neighbour_ended_in_time = true;
    });
    CHECK(forked);
    CHECK(most > 5);  // else there was no bomb
    CHECK(most < *bombed.nproc);
    CHECK(neighbour_ended_in_time);
    const SandboxResult other = neighbour->take_result();
    CHECK(other.cause == Cause::exited);
    CHECK(other.exit_code == 0);

    const SandboxResult result = bomb->take_result();
    CHECK(result.timed_out);  // on a busy host it can be host_overloaded
    CHECK_FALSE(result.survivors_unproved);
    CHECK(processes_with(marker).empty());
  }
}
