#include "kernel/run/outcome.hpp"

#include <csignal>
#include <limits>
#include <set>
#include <string>

#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

Ending ended(Cause cause, std::optional<Exit> exit) {
  Ending ending;
  ending.cause = cause;
  ending.detail = "as the machine said";
  ending.exit = exit;
  return ending;
}

Exit by_signal(int signal, std::uint64_t own_cpu_us = 0) {
  return {.signal = signal, .own_cpu_us = own_cpu_us};
}

ClassifyFacts in_leaf(CgroupUsage usage) {
  return {.cpu_seconds = 2, .cgroup = usage};
}

ClassifyFacts with_output(std::uint64_t bytes, std::optional<std::uint64_t> stop_bytes) {
  return {.cpu_seconds = 2, .output_bytes = bytes, .output_stop_bytes = stop_bytes};
}

struct Row {
  const char* what;
  Ending ending;
  ClassifyFacts facts;
  Cause expected;
};

}  // namespace

TEST_CASE("the numbers of an ended run give its cause") {
  const ClassifyFacts two_seconds{.cpu_seconds = 2};
  const ClassifyFacts no_limit{};
  const ClassifyFacts out_of_memory = in_leaf({.oom_kills = 1, .oom_events = 1});
  const ClassifyFacts fork_refused = in_leaf({.pids_refused = 1});
  const ClassifyFacts host_out_of_memory = in_leaf({.oom_kills = 1});
  const std::vector<Row> rows = {
      {"a clean exit", ended(Cause::exited, Exit{.code = 0}), two_seconds, Cause::exited},
      {"an exit after much CPU time",
       ended(Cause::exited, Exit{.code = 1, .own_cpu_us = 9'000'000}), two_seconds, Cause::exited},
      {"SIGKILL at the CPU limit", ended(Cause::signaled, by_signal(SIGKILL, 2'000'000)),
       two_seconds, Cause::cpu_limit},
      {"SIGKILL a moment before it", ended(Cause::signaled, by_signal(SIGKILL, 1'999'999)),
       two_seconds, Cause::signaled},
      {"SIGKILL without a CPU limit", ended(Cause::signaled, by_signal(SIGKILL, 9'000'000)),
       no_limit, Cause::signaled},
      {"SIGXCPU at the CPU limit", ended(Cause::signaled, by_signal(SIGXCPU, 2'000'000)),
       two_seconds, Cause::cpu_limit},
      {"a SIGXCPU that the program sends itself", ended(Cause::signaled, by_signal(SIGXCPU)),
       two_seconds, Cause::signaled},
      {"SIGSEGV after much CPU time", ended(Cause::signaled, by_signal(SIGSEGV, 9'000'000)),
       two_seconds, Cause::signaled},
      {"SIGXFSZ", ended(Cause::signaled, by_signal(SIGXFSZ)), no_limit, Cause::file_size_limit},
      {"a clean exit after too much output", ended(Cause::exited, Exit{.code = 0}),
       with_output(1001, 1000), Cause::output_limit},
      {"a crash after too much output", ended(Cause::signaled, by_signal(SIGABRT)),
       with_output(1001, 1000), Cause::output_limit},
      {"a clean exit after all the output that is allowed", ended(Cause::exited, Exit{.code = 0}),
       with_output(1000, 1000), Cause::exited},
      {"much output without a limit", ended(Cause::exited, Exit{.code = 0}),
       with_output(1001, std::nullopt), Cause::exited},
      {"SIGXFSZ after too much output", ended(Cause::signaled, by_signal(SIGXFSZ)),
       with_output(1001, 1000), Cause::file_size_limit},
      {"a request to kill after too much output",
       ended(Cause::killed_by_request, by_signal(SIGTERM)), with_output(1001, 1000),
       Cause::killed_by_request},
      {"SIGSYS", ended(Cause::signaled, by_signal(SIGSYS)), no_limit, Cause::syscall_denied},
      {"SIGSYS of a child, as a shell passes it on",
       ended(Cause::exited, Exit{.code = 128 + SIGSYS}), no_limit, Cause::exited},
      {"SIGSYS after the deadline", ended(Cause::wall_clock, by_signal(SIGSYS)), no_limit,
       Cause::wall_clock},
      {"SIGKILL with an OOM kill", ended(Cause::signaled, by_signal(SIGKILL)), out_of_memory,
       Cause::memory_limit},
      {"the launcher gone with an OOM kill", ended(Cause::tampered, std::nullopt), out_of_memory,
       Cause::memory_limit},
      {"the launcher gone without one", ended(Cause::tampered, std::nullopt), no_limit,
       Cause::tampered},
      {"a clean exit although a child was OOM-killed", ended(Cause::exited, Exit{.code = 0}),
       out_of_memory, Cause::memory_limit},
      {"an exit with 1 after a child was OOM-killed", ended(Cause::exited, Exit{.code = 1}),
       out_of_memory, Cause::memory_limit},
      {"SIGKILL with an OOM kill and at the CPU limit",
       ended(Cause::signaled, by_signal(SIGKILL, 2'000'000)), out_of_memory, Cause::memory_limit},
      {"an OOM kill that the host's own lack of memory explains",
       ended(Cause::signaled, by_signal(SIGKILL)), host_out_of_memory, Cause::internal},
      {"the launcher gone for the host's lack of memory", ended(Cause::tampered, std::nullopt),
       host_out_of_memory, Cause::internal},
      {"at memory_max, and nobody had to die", ended(Cause::exited, Exit{.code = 0}),
       in_leaf({.oom_events = 3}), Cause::exited},
      {"a kill, on a host that ran out of memory and has no leaf that says whose",
       ended(Cause::signaled, by_signal(SIGKILL)),
       {.cpu_seconds = std::nullopt, .host_may_have_killed = true},
       Cause::internal},
      {"a crash on such a host",
       ended(Cause::signaled, by_signal(SIGSEGV)),
       {.cpu_seconds = std::nullopt, .host_may_have_killed = true},
       Cause::signaled},
      {"the wall clock, with an OOM kill", ended(Cause::wall_clock, by_signal(SIGTERM)),
       out_of_memory, Cause::wall_clock},
      {"a program that cannot be executed, with an OOM kill",
       ended(Cause::cannot_execute, std::nullopt), out_of_memory, Cause::cannot_execute},
      {"an exit with 1 after a refused fork", ended(Cause::exited, Exit{.code = 1}), fork_refused,
       Cause::pids_limit},
      {"a crash after a refused fork", ended(Cause::signaled, by_signal(SIGABRT)), fork_refused,
       Cause::pids_limit},
      {"a clean exit after a refused fork", ended(Cause::exited, Exit{.code = 0}), fork_refused,
       Cause::exited},
      {"SIGXCPU at the CPU limit after a refused fork",
       ended(Cause::signaled, by_signal(SIGXCPU, 2'000'000)), fork_refused, Cause::cpu_limit},
      {"an OOM kill and a refused fork", ended(Cause::signaled, by_signal(SIGKILL)),
       in_leaf({.oom_kills = 1, .oom_events = 1, .pids_refused = 1}), Cause::memory_limit},
      {"the launcher gone after a refused fork", ended(Cause::tampered, std::nullopt), fork_refused,
       Cause::tampered},
      {"the wall clock after a refused fork", ended(Cause::wall_clock, by_signal(SIGTERM)),
       fork_refused, Cause::wall_clock},
      {"the wall clock, whatever else is true",
       ended(Cause::wall_clock, by_signal(SIGKILL, 2'000'000)), two_seconds, Cause::wall_clock},
      {"a request to kill, with an OOM kill", ended(Cause::killed_by_request, by_signal(SIGKILL)),
       out_of_memory, Cause::killed_by_request},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Ending classified = classify(row.ending, row.facts);
    CHECK(name_of(classified.cause) == name_of(row.expected));
    // What was observed is never changed, and a cause that stands keeps its detail.
    Ending unchanged = classified;
    unchanged.cause = row.ending.cause;
    unchanged.detail = row.ending.detail;
    CHECK(unchanged == row.ending);
    CHECK((classified.detail == row.ending.detail) == (row.expected == row.ending.cause));
  }
}

TEST_CASE("CPU time of the agent's children is not held against the agent") {
  // Goal: a build that used hours of CPU in its compilers and is then killed by SIGKILL from
  // elsewhere did not pass its own limit.
  const Exit exit{
      .signal = SIGKILL, .own_cpu_us = 10'000, .cpu_user_us = 7'200'000'000, .cpu_system_us = 1};
  CHECK(classify(ended(Cause::signaled, exit), {.cpu_seconds = 120}).cause == Cause::signaled);
}

TEST_CASE("the largest CPU limit is never taken for a small one") {
  const ClassifyFacts largest{.cpu_seconds = std::numeric_limits<std::int64_t>::max()};
  CHECK(classify(ended(Cause::signaled, by_signal(SIGKILL, 5'000'000)), largest).cause ==
        Cause::signaled);
}

TEST_CASE(
    "a run is starved if it waited for a CPU half of the time and used less than half of one") {
  struct StarvationRow {
    const char* what;
    Starvation seen;
    bool expected;
  };
  constexpr std::uint64_t wall = 10'000'000;
  const std::vector<StarvationRow> rows = {
      {"three others on the CPU of a spinner", {wall, 2'500'000, 7'500'000, 0, false}, true},
      {"just half", {wall, 4'999'999, 5'000'000, 0, false}, true},
      {"a microsecond less than half", {wall, 4'999'999, 4'999'999, 0, false}, false},
      {"it had half a CPU", {wall, 5'000'000, 5'000'000, 0, false}, false},
      {"a spinner alone", {wall, 9'990'000, 10'000, 0, false}, false},
      {"a sleeper", {wall, 2'000, 1'000, 0, false}, false},
      {"sixty spinners that wait for each other on two CPUs",
       {wall, 20'000'000, 9'600'000, 0, false},
       false},
      {"sixty spinners on the one CPU that they chose",
       {wall, 10'000'000, 9'800'000, 0, false},
       false},
      {"a spinner at its own cpu_max of 0.1",
       {wall, 1'000'000, 9'000'000, 9'000'000, false},
       false},
      {"the same on a busy host", {wall, 500'000, 9'500'000, 3'000'000, false}, true},
      {"four spinners at cpu_max, throttled on four CPUs",
       {wall, 1'000'000, 9'500'000, 36'000'000, false},
       false},
      {"a spinner that got nothing at all", {wall, 0, wall, 0, false}, true},
      {"the same after it lowered its own priority", {wall, 0, wall, 0, true}, false},
      {"a sleeper while the supervisor was held up",
       {wall, 2'000, 1'000, 0, false, 5'000'000},
       true},
      {"a spinner meanwhile", {wall, 9'000'000, 10'000, 0, false, 9'000'000}, false},
      {"a supervisor that was a little late", {wall, 2'000, 1'000, 0, false, 20'000}, false},
  };
  for (const StarvationRow& row : rows) {
    INFO(row.what);
    CHECK(starved(row.seen) == row.expected);
    const ClassifyFacts facts{.cpu_seconds = std::nullopt, .starvation = row.seen};
    for (const Cause cause : all_causes) {
      if (cause == Cause::host_overloaded) continue;
      // Only a deadline is excused by it.
      const Ending ending = classify(ended(cause, Exit{.code = 0}), facts);
      const bool excused = cause == Cause::wall_clock && row.expected;
      CHECK(name_of(ending.cause) == name_of(excused ? Cause::host_overloaded : cause));
    }
  }
}

TEST_CASE("each cause has a name of its own") {
  std::set<std::string_view> names;
  int causes = 0;
  for (const Cause cause : all_causes) {
    names.insert(name_of(cause));
    ++causes;
  }
  CHECK(names.size() == static_cast<std::size_t>(causes));
}
