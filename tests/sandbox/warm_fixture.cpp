#include "sandbox/warm_fixture.hpp"

#include <poll.h>

#include <algorithm>

#include "kernel/run/run_sandboxed.hpp"

namespace paddock::tests {

using namespace kernel;

namespace {

const std::vector<std::string> interpreter = {"python3", "-I"};

std::string next_name() {
  static int number = 0;
  return "r-warm-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
}

}  // namespace

void drive_until(const std::vector<Run*>& runs, const std::function<bool()>& is_over) {
  const auto finished = [](const Run* run) { return run->finished(); };
  while (!std::all_of(runs.begin(), runs.end(), finished) && !is_over()) {
    std::vector<pollfd> polled;
    for (const Run* run : runs) {
      if (run->finished()) continue;
      for (const Run::Watch& watch : run->watches()) polled.push_back({watch.fd, watch.events, 0});
    }
    ::poll(polled.data(), polled.size(), 5);
    for (Run* run : runs) {
      for (const pollfd& one : polled)
        if (one.revents != 0 && !run->finished()) run->on_ready(one.fd);
      if (!run->finished()) run->on_time();
      run->release();
    }
  }
}

void drive_for(const std::vector<Run*>& runs, std::chrono::milliseconds time) {
  drive_until(runs, [until = Clock::now() + time] { return Clock::now() > until; });
}

SandboxResult finish(Run& run) {
  drive(run);
  return run.take_result();
}

WarmPython::WarmPython(SandboxPolicy policy, std::vector<std::string> modules,
                       std::vector<std::string> programs, const std::string& cgroup_base)
    : WarmPython({.interpreter = interpreter,
                  .modules = std::move(modules),
                  .programs = std::move(programs)},
                 std::move(policy), cgroup_base) {}

WarmPython::WarmPython(const ZygoteProgram& program, SandboxPolicy policy,
                       const std::string& cgroup_base)
    : policy_(std::move(policy)), sandbox_(Sandbox::open({.cgroup_base = cgroup_base}).value()) {
  // Of the tiny programs, which may lie there: why_cold.
  std::erase_if(policy_.bind_ro,
                [](const std::string& path) { return path.starts_with("/var/tmp/"); });
  auto started = sandbox_.start_zygote(policy_, program, "z-" + next_name());
  REQUIRE(started);
  zygote_ = std::move(*started);
  bool ready = false;
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  drive_until({zygote_.run.get()}, [&] {
    const auto says = zygote_says_ready(zygote_.line);
    ready = says && *says;
    return ready || !says || Clock::now() > deadline;
  });
  if (!ready) {
    zygote_.run->kill();
    drive(*zygote_.run);
    const SandboxResult result = zygote_.run->take_result();
    FAIL("no zygote: " << name_of(result.cause) << ": " << result.detail << result.stderr);
  }
}

WarmPython::~WarmPython() {
  if (!zygote_.run) return;
  zygote_.run->kill();
  drive(*zygote_.run);
}

std::unique_ptr<Run> WarmPython::start(const std::string& code, RunOptions options,
                                       std::vector<std::string> arguments) {
  Argv argv = interpreter;
  argv.insert(argv.end(), {"-c", code});
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  auto run = sandbox_.start_warm(zygote_.line, policy_, argv, next_name(), std::move(options));
  INFO((run ? "" : run.error().message));
  REQUIRE(run);
  return std::move(*run);
}

SandboxResult WarmPython::run(const std::string& code, RunOptions options,
                              std::vector<std::string> arguments) {
  const auto live = start(code, std::move(options), std::move(arguments));
  drive(*live);
  return live->take_result();
}

SandboxResult WarmPython::run_words(const Argv& argv, RunOptions options) {
  auto run = sandbox_.start_warm(zygote_.line, policy_, argv, next_name(), std::move(options));
  INFO((run ? "" : run.error().message));
  REQUIRE(run);
  drive(**run);
  return (*run)->take_result();
}

SandboxResult WarmPython::run_cold(const std::string& code, const RunInput& input) {
  return tests::run(policy_, {"python3", "-I", "-c", code}, input);
}

}  // namespace paddock::tests
