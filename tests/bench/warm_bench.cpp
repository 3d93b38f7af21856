// What a warm STRICT run takes, beside a cold one of the same code: one after the other, and as many
// at a time as there are CPUs, each from a zygote of its own. CPU times are those of this process
// (the supervisor's part: receipt, pipes, control) and of everything, as /proc/stat counts it.
//
// Usage: warm_bench [PROFILES_DIRECTORY [RUNS [warm]]]      warm: nothing cold, for perf stat

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "bench/bench.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "kernel/run/sandbox.hpp"

using namespace paddock;
using namespace paddock::kernel;

namespace {

const std::vector<std::string> argv = {"python3", "-I", "-c", "print(sum([1, 2, 3]))"};
const ZygoteProgram program = {.interpreter = {"python3", "-I"},
                               .modules = {"typing", "math", "re", "collections", "json", "random"},
                               .programs = {}};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "warm_bench: %s\n", why.c_str());
  std::exit(1);
}

SandboxPolicy strict_policy(const std::string& profiles) {
  const LoadResult loaded = load_catalog({profiles}, {});
  const auto strict = loaded.catalog.profiles.find("STRICT");
  if (strict == loaded.catalog.profiles.end()) give_up("no profile STRICT in " + profiles);
  Request request;
  request.argv = argv;
  return resolve(strict->second, request).value();
}

std::string next_name() {
  static int number = 0;
  char name[32];
  std::snprintf(name, sizeof name, "r-%08x%08x", static_cast<unsigned>(::getpid()),
                static_cast<unsigned>(++number));
  return name;
}

// Drives all of them until `is_over`.
void drive_until(const std::vector<Run*>& runs, const std::function<bool()>& is_over) {
  while (!is_over()) {
    std::vector<pollfd> polled;
    std::vector<Run*> whose;
    for (Run* run : runs)
      for (const Run::Watch& watch : run->watches()) {
        polled.push_back({watch.fd, watch.events, 0});
        whose.push_back(run);
      }
    ::poll(polled.data(), polled.size(), 100);
    for (std::size_t i = 0; i < polled.size(); ++i)
      if (polled[i].revents != 0 && !whose[i]->finished()) whose[i]->on_ready(polled[i].fd);
    for (Run* run : runs) run->release();
  }
}

double own_cpu_ms() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

// Of all CPUs since the start, but for idle and iowait.
double all_cpu_ms() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double sum = 0, value = 0;
  stat >> cpu;
  for (int column = 0; column < 8 && stat >> value; ++column)
    if (column != 3 && column != 4) sum += value;
  return sum * 1e3 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

class Bench {
 public:
  Bench(std::string profiles, int runs)
      : sandbox_(Sandbox::open({}).value()), policy_(strict_policy(profiles)), runs_(runs) {}

  void cold() {
    const Measured measured(runs_ / 10);
    bench::Samples samples;
    for (int i = 0; i < runs_ / 10; ++i)
      samples.time([&] {
        auto run = sandbox_.start(policy_, argv, "", next_name(), {}).value();
        drive(*run);
        check(*run);
      });
    measured.print("cold, 1 at a time", samples);
  }

  void warm(std::size_t at_a_time) {
    std::vector<StartedZygote> zygotes;
    for (std::size_t i = 0; i < at_a_time; ++i)
      zygotes.push_back(sandbox_.start_zygote(policy_, program, "z-" + next_name()).value());
    for (StartedZygote& zygote : zygotes)
      drive_until({zygote.run.get()}, [&] { return zygote_says_ready(zygote.line).value(); });
    struct Live {
      std::unique_ptr<Run> run;
      Clock::time_point began;
    };
    std::vector<Live> live(at_a_time);
    int started = 0, ended = 0;
    const Measured measured(runs_);
    bench::Samples samples;
    while (ended < runs_) {
      std::vector<Run*> driven;
      for (std::size_t i = 0; i < at_a_time; ++i) {
        if (!live[i].run && started < runs_) {
          ++started;
          live[i].began = Clock::now();
          live[i].run =
              sandbox_.start_warm(zygotes[i].line, policy_, argv, next_name(), {}).value();
        }
        if (live[i].run) driven.push_back(live[i].run.get());
      }
      bool one_ended = false;
      drive_until(driven, [&] {
        for (Live& one : live) {
          if (!one.run || !one.run->finished()) continue;
          samples.add(std::chrono::duration<double, std::milli>(Clock::now() - one.began).count());
          check(*one.run);
          one.run.reset();
          ++ended;
          one_ended = true;
        }
        return one_ended;
      });
    }
    measured.print(("warm, " + std::to_string(at_a_time) + " at a time").c_str(), samples);
    for (StartedZygote& zygote : zygotes) {
      zygote.run->kill();
      drive(*zygote.run);
    }
  }

 private:
  struct Measured {
    explicit Measured(int count) : runs(count) {}
    void print(const char* name, const bench::Samples& samples) const {
      const double wall =
          std::chrono::duration<double, std::milli>(Clock::now() - began).count();
      bench::print(name, samples);
      std::printf("%24s %.0f runs/s; CPU per run: this process %.3f ms, everything %.3f ms\n", "",
                  runs / wall * 1e3, (own_cpu_ms() - own) / runs, (all_cpu_ms() - all) / runs);
    }
    int runs;
    Clock::time_point began = Clock::now();
    double own = own_cpu_ms();
    double all = all_cpu_ms();
  };

  static void check(Run& run) {
    const SandboxResult result = run.take_result();
    if (result.stdout != "6\n") give_up("a run failed: " + result.detail + result.stderr);
  }

  Sandbox sandbox_;
  SandboxPolicy policy_;
  int runs_;
};

}  // namespace

int main(int argc, char** argv_) {
  Bench bench(argc > 1 ? argv_[1] : "profiles", argc > 2 ? std::atoi(argv_[2]) : 1000);
  if (argc <= 3) bench.cold();
  bench.warm(1);
  bench.warm(2);
  bench.warm(std::max(2u, std::thread::hardware_concurrency()) * 2);
}
