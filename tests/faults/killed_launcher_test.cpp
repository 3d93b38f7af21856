// Goal: whenever a process of the launch chain is killed, its run has one outcome, and nothing is
// left. Method: everything below the daemon is SIGKILLed at 0 to 6 ms after the run was asked for,
// or only the launcher, or only what is below it (bubblewrap and the init).

#include <csignal>
#include <random>
#include <thread>

#include "faults/faulty_daemon.hpp"
#include "kernel/base/process_tree.hpp"

using namespace paddock;
using namespace paddock::faults;
using nlohmann::json;

namespace {

enum class Whom { launcher, below_launcher, everybody };

void kill_below(pid_t daemon, Whom whom) {
  for (const pid_t launcher : kernel::children_of(daemon)) {
    if (whom == Whom::launcher) {
      ::kill(launcher, SIGKILL);
    } else if (whom == Whom::below_launcher) {
      kernel::kill_descendants(launcher);
    } else {
      kernel::kill_tree(launcher);
    }
  }
}

void check_outcome(const json& run, const std::string& id) {
  INFO(run.dump());
  CHECK(run["id"] == id);
  CHECK(run["state"] == "finished");
  const std::string cause = run["result"]["cause"];
  const bool is_one = cause == "exited" || cause == "cannot_isolate" || cause == "signaled" ||
                      cause == "tampered" || cause == "internal";
  CHECK(is_one);
  if (cause == "exited") CHECK(run["result"]["stdout"] == "x\n");
  if (cause != "exited") CHECK_FALSE(run["result"]["detail"].get<std::string>().empty());
}

void kill_many(FaultyDaemon& faulty, const std::string& profile, int runs) {
  std::mt19937 random(1);
  for (int round = 0; round < runs; ++round) {
    const std::string id = faulty->start(quick(profile));
    faulty.know(id);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
    kill_below(faulty->pid(), static_cast<Whom>(round % 3));
    check_outcome(faulty->finished(id), id);
  }
  faulty.check_nothing_left();
  CHECK(faulty.run(quick(profile))["result"]["cause"] == "exited");
}

}  // namespace

TEST_CASE("a launch chain that is killed at any moment leaves one outcome and nothing else") {
  FaultyDaemon faulty;
  const int runs = repetitions("FAULT_KILLS", 60);
  kill_many(faulty, "OFF", runs);
  if (sandbox_works()) kill_many(faulty, "STRICT", runs);
}
