// Cold STRICT `true`, layer by layer, beside the same bubblewrap line by hand. Goal: the whole of
// it takes at most 1.33x as long.
//
// Every contender starts the same bwrap with the same mounts and files from the same process. They
// take turns, so that what else the machine does hits all alike. What a layer adds is told from the
// contender before it; the rest is paddock's own: guard, init, gate, receipt, pipes and the proof
// that nobody is left. Then the receipt alone, taken again and again of one process at its gate.
//
// Usage: cold_strict_bench [PROFILES_DIRECTORY [ROUNDS]] [--json]

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "kernel/base/fd.hpp"
#include "kernel/base/process_tree.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "kernel/run/sandbox.hpp"

using namespace paddock;
using namespace paddock::kernel;

namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "cold_strict_bench: %s\n", why.c_str());
  std::exit(1);
}

SandboxPolicy strict_policy(const std::string& profiles) {
  const LoadResult loaded = load_catalog({profiles}, {});
  const auto strict = loaded.catalog.profiles.find("STRICT");
  if (strict == loaded.catalog.profiles.end()) give_up("no profile STRICT in " + profiles);
  Request request;
  request.argv = {"/bin/true"};
  return resolve(strict->second, request).value();
}

void run_by_hand(const Plan& plan, const std::string& bubblewrap) {
  std::map<int, Fd> contents;
  std::string arguments;
  for (const std::string& word : plan.bubblewrap) arguments += word + '\0';
  contents[fd_bubblewrap_args] = memory_file("args", arguments).value();
  for (const auto& [fd, bytes] : plan.files) contents[fd] = memory_file("file", bytes).value();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // Twice: a source may have the number that another one is to get.
  for (const auto& [fd, content] : contents)
    ::posix_spawn_file_actions_adddup2(&actions, content.get(), fd + 100);
  for (const auto& [fd, content] : contents)
    ::posix_spawn_file_actions_adddup2(&actions, fd + 100, fd);
  for (const auto& [fd, content] : contents)
    ::posix_spawn_file_actions_addclose(&actions, fd + 100);
  const std::string args_fd = std::to_string(fd_bubblewrap_args);
  const char* argv[] = {bubblewrap.c_str(), "--args", args_fd.c_str(), "--", "/bin/true", nullptr};
  char* environment[] = {nullptr};
  pid_t pid = -1;
  if (::posix_spawn(&pid, argv[0], &actions, nullptr, const_cast<char**>(argv), environment) != 0)
    give_up("cannot start " + bubblewrap);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) give_up("bubblewrap by hand failed");
}

// As the daemon names them, so that a leaf is swept that a killed benchmark leaves.
std::string name_of_leaf() {
  char name[32];
  std::snprintf(name, sizeof name, "r-%016x", static_cast<unsigned>(::getpid()));
  return name;
}

std::unique_ptr<Run> start_true(const Sandbox& sandbox, const SandboxPolicy& policy) {
  auto run = sandbox.start(policy, {"/bin/true"}, "", name_of_leaf(), {});
  if (!run) give_up(run.error().message);
  return std::move(*run);
}

Receipt finish(Run& run) {
  drive(run);
  SandboxResult result = run.take_result();
  if (result.cause != Cause::exited || result.exit_code != 0) give_up(result.detail);
  return *std::move(result.receipt);
}

// The agent's process, once it waits at its gate: the last of guard, bwrap, init, agent.
pid_t wait_for_agent(const Run& run) {
  for (int tried = 0; tried < 1000; ++tried) {
    ::usleep(1000);
    pid_t last = run.launcher();
    int depth = 0;
    std::vector<pid_t> below = children_of(last);
    for (; below.size() == 1; below = children_of(last), ++depth) last = below.front();
    if (depth != 3) continue;
    const auto seen = observe(last);
    if (seen && seen->filters == 1) return last;  // the filter is what it sets last
  }
  give_up("the agent's process does not get to its gate");
}

double cpu_ms_of(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

// Of this process and of all that it and its children have waited for.
double cpu_ms() {
  return cpu_ms_of(RUSAGE_SELF) + cpu_ms_of(RUSAGE_CHILDREN);
}

struct Contender {
  std::string name;
  std::function<void()> work;
  bench::Samples samples{};
  bench::Samples cpu{};

  void take_turn() {
    const double before = cpu_ms();
    samples.time(work);
    cpu.add(cpu_ms() - before);
  }
};

std::vector<Contender> contenders(const SandboxPolicy& strict, const Sandbox& without_cgroup,
                                  const Sandbox& with_cgroup) {
  static const Plan plan = without_cgroup.preview(strict, {"/bin/true"}, "").value();
  SandboxPolicy bare = strict;
  bare.landlock = {};
  bare.seccomp = SeccompUse::off;
  SandboxPolicy landlocked = strict;
  landlocked.seccomp = SeccompUse::off;
  const auto paddock = [](const Sandbox& sandbox, SandboxPolicy policy) {
    return [&sandbox, policy = std::move(policy)] { finish(*start_true(sandbox, policy)); };
  };
  return {
      {"bwrap by hand", [&without_cgroup] { run_by_hand(plan, without_cgroup.host().bubblewrap); }},
      {"paddock, receipt", paddock(without_cgroup, bare)},
      {"+ Landlock", paddock(without_cgroup, landlocked)},
      {"+ seccomp", paddock(without_cgroup, strict)},
      {"+ cgroup: STRICT", paddock(with_cgroup, strict)}};
}

struct ReceiptCost {
  bench::Samples observed;
  bench::Samples compared;
};

ReceiptCost receipt_cost(const Sandbox& sandbox, const SandboxPolicy& policy, int rounds) {
  ReceiptCost cost;
  const auto run = start_true(sandbox, policy);
  const pid_t agent = wait_for_agent(*run);
  for (int round = 0; round < rounds; ++round) cost.observed.time([&] { observe(agent).value(); });
  const Receipt receipt = finish(*run);
  for (int round = 0; round < rounds; ++round)
    cost.compared.time([&] { compare(run->plan(), receipt); });
  return cost;
}

void print_table(const std::vector<Contender>& all, const ReceiptCost& cost) {
  const double hand = all.front().samples.percentile(0.5);
  double before = hand;
  std::printf("%-18s %8s %8s %8s %8s %8s %8s\n", "", "p10 ms", "p50 ms", "p99 ms", "adds ms",
              "ratio", "CPU ms");
  for (const Contender& one : all) {
    const double median = one.samples.percentile(0.5);
    std::printf("%-18s %8.3f %8.3f %8.3f %8.3f %8.2f %8.3f\n", one.name.c_str(),
                one.samples.percentile(0.1), median, one.samples.percentile(0.99), median - before,
                median / hand, one.cpu.percentile(0.5));
    before = median;
  }
  std::printf("the receipt alone: observe %.3f ms, compare %.3f ms\n",
              cost.observed.percentile(0.5), cost.compared.percentile(0.5));
}

void print_json(const std::vector<Contender>& all, const ReceiptCost& cost) {
  const double hand = all.front().samples.percentile(0.5);
  std::printf("{\"rounds\": %zu, \"layers\": [", all.front().samples.size());
  for (const Contender& one : all)
    std::printf(
        "%s{\"name\": \"%s\", \"p10_ms\": %.3f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
        "\"ratio\": %.3f}",
        &one == &all.front() ? "" : ", ", one.name.c_str(), one.samples.percentile(0.1),
        one.samples.percentile(0.5), one.samples.percentile(0.99),
        one.samples.percentile(0.5) / hand);
  std::printf("], \"observe_p50_ms\": %.3f, \"compare_p50_ms\": %.3f}\n",
              cost.observed.percentile(0.5), cost.compared.percentile(0.5));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool json = std::erase(words, "--json") > 0;
  const std::string profiles = words.empty() ? "build/release/share/paddock/profiles" : words[0];
  const int rounds = words.size() > 1 ? std::atoi(words[1].c_str()) : 300;
  const SandboxPolicy strict = strict_policy(profiles);
  const Sandbox without_cgroup = Sandbox::open({}).value();
  const Sandbox with_cgroup = Sandbox::open({.cgroup_base = ""}).value();
  if (!with_cgroup.cgroup().base)
    std::fprintf(stderr, "no cgroup here, the last row has none: %s\n",
                 with_cgroup.cgroup().problem.c_str());

  std::vector<Contender> all = contenders(strict, without_cgroup, with_cgroup);
  for (int round = 0; round < rounds; ++round)
    for (Contender& one : all) one.take_turn();
  const ReceiptCost cost = receipt_cost(with_cgroup, strict, rounds);
  if (json) {
    print_json(all, cost);
  } else {
    print_table(all, cost);
  }
  return 0;
}
