// What a run feels of a neighbour that floods the host. Goal: p99 at most 1.5x that of a quiet
// host, and every verdict right.
//
// One supervisor, one thread, as in the daemon. Two small STRICT programs are run one after the
// other, in turns beside nobody and beside one flooding STRICT run of each kind. The kernel shares
// the processors between two runs only where the cgroup has the cpu controller; the table says
// whether it has.
//
// Usage: neighbour_bench TEST_PROGRAMS_DIRECTORY [PROFILES_DIRECTORY [ROUNDS]] [--json]

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "kernel/run/sandbox.hpp"

using namespace paddock;
using namespace paddock::kernel;

namespace {

using Command = std::vector<std::string>;

constexpr int samples_per_round = 10;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "neighbour_bench: %s\n", why.c_str());
  std::exit(1);
}

SandboxPolicy strict_policy(const std::string& profiles, const std::string& programs) {
  const LoadResult loaded = load_catalog({profiles}, {});
  const auto strict = loaded.catalog.profiles.find("STRICT");
  if (strict == loaded.catalog.profiles.end()) give_up("no profile STRICT in " + profiles);
  Request request;
  request.argv = {"/bin/true"};
  SandboxPolicy policy = resolve(strict->second, request).value();
  policy.bind_ro.push_back(programs);
  if (const auto valid = check_policy(policy); !valid) give_up(valid.error().message);
  return policy;
}

std::string next_name() {
  static unsigned count = 0;
  char name[32];
  std::snprintf(name, sizeof name, "r-%08x%08x", static_cast<unsigned>(::getpid()), ++count);
  return name;
}

std::unique_ptr<Run> start(const Sandbox& sandbox, const SandboxPolicy& policy,
                           const Command& command) {
  auto run = sandbox.start(policy, command, "", next_name(), {});
  if (!run) give_up(run.error().message);
  return std::move(*run);
}

// One turn of the supervisor's loop for all runs.
void turn(const std::vector<Run*>& runs, int timeout_ms) {
  std::vector<pollfd> polled;
  std::vector<Run*> owners;
  for (Run* run : runs) {
    if (run->finished()) continue;
    for (const Run::Watch& watch : run->watches()) {
      polled.push_back({watch.fd, watch.events, 0});
      owners.push_back(run);
    }
    if (const int left = milliseconds_until(run->next_time()); left >= 0)
      timeout_ms = timeout_ms < 0 ? left : std::min(timeout_ms, left);
  }
  ::poll(polled.data(), polled.size(), timeout_ms);
  for (Run* run : runs)
    if (!run->finished()) run->on_time();
  for (std::size_t i = 0; i < polled.size(); ++i)
    if (polled[i].revents != 0 && !owners[i]->finished()) owners[i]->on_ready(polled[i].fd);
  for (Run* run : runs) run->release();
}

struct Measured {
  std::string name;
  Command command;
  std::string output;
};

struct Flood {
  std::string name;
  Command command;
};

Command twelve_of(const std::string& command) {
  return {"/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do " + command + " & done; wait"};
}

std::vector<Flood> floods(const std::string& programs) {
  const auto program = [&](const char* name) { return programs + "/" + name; };
  return {
      {"forks", {program("fork_bomb"), "neighbour"}},
      {"memory", {program("eat_memory")}},
      {"output", {program("flood"), "1", "4096"}},
      {"file bytes", {program("fill_file"), "/tmp/filled"}},
      {"inodes", {"/bin/sh", "-c", "i=0; while : >/tmp/$i; do i=$((i+1)); done"}},
      {"descriptors", {program("open_files")}},
      {"CPU, 1 process", {program("burn_cpu")}},
      {"CPU, 12 processes", twelve_of(program("burn_cpu"))},
      // A session is what the kernel's autogroups share the processors among.
      {"CPU, 12 sessions", twelve_of("setsid " + program("burn_cpu"))},
  };
}

// A flooding run that is started again whenever it has ended.
class Neighbour {
 public:
  Neighbour(const Sandbox& sandbox, const SandboxPolicy& policy, Command command)
      : sandbox_(sandbox), policy_(policy), command_(std::move(command)) {
    restart();
    while (!run_->started() && !run_->finished()) turn({run_.get()}, -1);
    const auto until = Clock::now() + std::chrono::milliseconds(20);
    while (Clock::now() < until) keep_flooding();
  }
  ~Neighbour() {
    run_->kill();
    while (!run_->finished()) turn({run_.get()}, -1);
    run_->take_result();
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  Run* run() {
    if (run_->finished()) restart();
    return run_.get();
  }

 private:
  void keep_flooding() { turn({run()}, 1); }
  void restart() {
    if (run_) {
      const SandboxResult result = run_->take_result();
      if (result.cause == Cause::cannot_isolate || result.cause == Cause::cannot_execute)
        give_up("a flood did not run: " + result.detail);
    }
    run_ = start(sandbox_, policy_, command_);
  }

  const Sandbox& sandbox_;
  const SandboxPolicy& policy_;
  Command command_;
  std::unique_ptr<Run> run_;
};

struct Row {
  std::string flood;
  std::string program;
  bench::Samples quiet{};
  bench::Samples flooded{};
  int wrong = 0;
};

class Bench {
 public:
  Bench(const Sandbox& sandbox, const SandboxPolicy& policy) : sandbox_(sandbox), policy_(policy) {}

  void round(const std::vector<Flood>& floods, const std::vector<Measured>& programs) {
    for (const Flood& flood : floods) {
      for (const Measured& program : programs) measure(row(flood, program), program, nullptr);
      Neighbour neighbour(sandbox_, policy_, flood.command);
      for (const Measured& program : programs) measure(row(flood, program), program, &neighbour);
    }
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  Row& row(const Flood& flood, const Measured& program) {
    for (Row& row : rows_)
      if (row.flood == flood.name && row.program == program.name) return row;
    return rows_.emplace_back(Row{flood.name, program.name});
  }

  void measure(Row& row, const Measured& program, Neighbour* neighbour) {
    bench::Samples& samples = neighbour == nullptr ? row.quiet : row.flooded;
    for (int i = 0; i < samples_per_round; ++i) {
      SandboxResult result;
      // Before the clock starts: starting it again is not what the sibling waits for.
      if (neighbour != nullptr) neighbour->run();
      samples.time([&] {
        const auto run = start(sandbox_, policy_, program.command);
        while (!run->finished()) {
          if (neighbour == nullptr) {
            turn({run.get()}, -1);
          } else {
            turn({run.get(), neighbour->run()}, -1);
          }
        }
        result = run->take_result();
      });
      const bool right =
          result.cause == Cause::exited && result.exit_code == 0 && result.stdout == program.output;
      if (right) continue;
      ++row.wrong;
      std::fprintf(stderr, "%s beside %s: %s, exit code %d: %s\n", row.program.c_str(),
                   row.flood.c_str(), std::string(name_of(result.cause)).c_str(), result.exit_code,
                   result.detail.c_str());
    }
  }

  const Sandbox& sandbox_;
  const SandboxPolicy& policy_;
  std::vector<Row> rows_;
};

void print_table(const std::vector<Row>& rows) {
  std::printf("%-18s %-8s %19s %19s %7s %7s %6s\n", "beside", "program", "quiet p50/p99 ms",
              "flooded p50/p99 ms", "p50 x", "p99 x", "wrong");
  for (const Row& row : rows)
    std::printf("%-18s %-8s %9.2f %9.2f %9.2f %9.2f %7.2f %7.2f %6d\n", row.flood.c_str(),
                row.program.c_str(), row.quiet.percentile(0.5), row.quiet.percentile(0.99),
                row.flooded.percentile(0.5), row.flooded.percentile(0.99),
                row.flooded.percentile(0.5) / row.quiet.percentile(0.5),
                row.flooded.percentile(0.99) / row.quiet.percentile(0.99), row.wrong);
}

void print_json(const std::vector<Row>& rows, const std::string& controllers) {
  std::printf("{\"controllers\": \"%s\", \"rows\": [", controllers.c_str());
  for (const Row& row : rows)
    std::printf(
        "%s{\"flood\": \"%s\", \"program\": \"%s\", \"samples\": %zu, \"quiet_p50_ms\": %.3f, "
        "\"quiet_p99_ms\": %.3f, \"flooded_p50_ms\": %.3f, \"flooded_p99_ms\": %.3f, "
        "\"wrong\": %d}",
        &row == &rows.front() ? "" : ", ", row.flood.c_str(), row.program.c_str(),
        row.flooded.size(), row.quiet.percentile(0.5), row.quiet.percentile(0.99),
        row.flooded.percentile(0.5), row.flooded.percentile(0.99), row.wrong);
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  Command words(argv + 1, argv + argc);
  const bool json = std::erase(words, "--json") > 0;
  if (words.empty()) give_up("needs the directory of the test programs");
  const std::string profiles = words.size() > 1 ? words[1] : "build/release/share/paddock/profiles";
  const int rounds = words.size() > 2 ? std::atoi(words[2].c_str()) : 10;
  const Sandbox sandbox = Sandbox::open({.cgroup_base = ""}).value();
  const SandboxPolicy policy = strict_policy(profiles, words[0]);

  std::string controllers;
  if (sandbox.cgroup().base)
    for (const std::string& name : sandbox.cgroup().base->controllers)
      controllers += (controllers.empty() ? "" : " ") + name;
  Bench bench(sandbox, policy);
  for (int round = 0; round < rounds; ++round)
    bench.round(floods(words[0]),
                {{"true", {"/bin/true"}, ""},
                 {"python", {"/usr/bin/python3", "-I", "-S", "-c", "print(6 * 7)"}, "42\n"}});
  if (json) {
    print_json(bench.rows(), controllers);
  } else {
    std::printf("cgroup controllers: %s\n", controllers.empty() ? "none" : controllers.c_str());
    print_table(bench.rows());
  }
  return 0;
}
