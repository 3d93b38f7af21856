// A real daemon with many long-running agents: what each costs it in memory, and how long it takes
// until nothing is left of them after a SIGKILL.

#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "bench/bench.hpp"
#include "bench/durability_bench.hpp"
#include "bench/real_daemon.hpp"
#include "kernel/base/fd.hpp"
#include "kernel/base/process_tree.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;
using paddock::kernel::Fd;

constexpr auto settle = 3s;
constexpr auto patience = 120s;

double seconds_since(Steady::time_point begin) {
  return std::chrono::duration<double>(Steady::now() - begin).count();
}

double pss_kib(pid_t pid) {
  std::ifstream rollup("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string line; std::getline(rollup, line);)
    if (line.starts_with("Pss:")) return std::strtod(line.c_str() + 4, nullptr);
  give_up("no Pss of process " + std::to_string(pid));
}

void all_below(pid_t root, std::vector<pid_t>& pids) {
  for (const pid_t child : paddock::kernel::children_of(root)) {
    pids.push_back(child);
    all_below(child, pids);
  }
}

// Everything below a process, held so that no pid can change hands.
class Descendants {
 public:
  explicit Descendants(pid_t root) {
    std::vector<pid_t> pids;
    all_below(root, pids);
    for (const pid_t pid : pids) {
      Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      if (fd) pidfds_.push_back(std::move(fd));
    }
  }
  std::size_t count() const { return pidfds_.size(); }
  std::size_t alive() const {
    std::size_t alive = 0;
    for (const Fd& fd : pidfds_) {
      pollfd polled{fd.get(), POLLIN, 0};
      if (::poll(&polled, 1, 0) == 0) ++alive;
    }
    return alive;
  }
  void wait_for_end() const {
    const auto begin = Steady::now();
    while (alive() > 0) {
      if (Steady::now() - begin > patience) give_up("the orphans do not end");
      std::this_thread::sleep_for(1ms);
    }
  }

 private:
  std::vector<Fd> pidfds_;
};

class Agents {
 public:
  Agents(const DurabilityOptions& options, const std::string& base)
      : options_(options), base_(base), daemon_(base, options.programs + "/paddockd") {
    std::filesystem::create_directory(base + "/agents");
    std::ofstream(base + "/config.toml")
        << "agents = [\"" << base << "/agents\"]\n[limits]\nruns_alive = " << options.agents + 8
        << "\n";
    for (int i = 0; i < options.agents; ++i)
      std::ofstream(base + "/agents/" + name(i) + ".toml")
          << "name = \"" << name(i) << "\"\nprofile = \"OFF\"\ncommand = [\"sleep\", \"86400\"]\n";
  }

  static std::string name(int number) { return "agent" + std::to_string(number); }
  RealDaemon& daemon() { return daemon_; }

  void start_all() {
    Client client(daemon_.socket());
    for (int i = 0; i < options_.agents; ++i)
      client.call("POST", "/v1/agents/" + name(i) + "/start");
  }
  void wait_until_alive() {
    Client client(daemon_.socket());
    const auto begin = Steady::now();
    while (number_after(client.call("GET", "/health"), "\"runs_alive\":") != options_.agents) {
      if (Steady::now() - begin > patience) give_up("the agents do not start");
      std::this_thread::sleep_for(20ms);
    }
  }
  double recover_seconds() {
    const auto begin = Steady::now();
    const int status =
        run({options_.programs + "/paddock", "recover", "--config", base_ + "/config.toml",
             "--runtime-dir", base_ + "/run", "--state-dir", base_ + "/state"});
    if (status != 0) give_up("paddock recover fails");
    return seconds_since(begin);
  }

 private:
  const DurabilityOptions& options_;
  std::string base_;
  RealDaemon daemon_;
};

// Each held descendant takes a descriptor.
void raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

void measure_agents(const DurabilityOptions& options, Measures& measures) {
  raise_descriptor_limit();
  const BenchDirectory directory;
  Agents agents(options, directory.path());
  const int count = options.agents;
  const std::string of_all = "_" + std::to_string(count) + "_agents";

  agents.daemon().start();
  std::this_thread::sleep_for(settle);
  const double idle = pss_kib(agents.daemon().pid());
  auto begin = Steady::now();
  agents.start_all();
  agents.wait_until_alive();
  measures.push_back({"start" + of_all + "_s", seconds_since(begin)});
  std::this_thread::sleep_for(settle);
  const double loaded = pss_kib(agents.daemon().pid());
  measures.push_back({"daemon_pss_0_agents_kib", idle});
  measures.push_back({"daemon_pss" + of_all + "_kib", loaded});
  measures.push_back({"daemon_pss_per_agent_kib", (loaded - idle) / count});

  // Without anybody's help ...
  std::size_t processes = 0;
  {
    const Descendants orphans(agents.daemon().pid());
    processes = orphans.count();
    begin = Steady::now();
    agents.daemon().kill();
    orphans.wait_for_end();
    measures.push_back({"orphans_end_by_themselves" + of_all + "_s", seconds_since(begin)});
    measures.push_back({"recover_afterwards" + of_all + "_s", agents.recover_seconds()});
  }
  measures.push_back({"orphan_processes", static_cast<double>(processes)});
  // ... and with recovery at once, of the agents that the next daemon has started again.
  agents.daemon().start();
  agents.wait_until_alive();
  std::this_thread::sleep_for(settle);
  const Descendants orphans(agents.daemon().pid());
  begin = Steady::now();
  agents.daemon().kill();
  measures.push_back({"recover_at_once" + of_all + "_s", agents.recover_seconds()});
  if (orphans.alive() > 0) give_up("recovery has left processes");
}

}  // namespace bench
