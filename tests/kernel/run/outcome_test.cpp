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
  const ClassifyFacts out_of_memory{.cpu_seconds = std::nullopt, .cgroup_oom_kills = 1};
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
      {"SIGXCPU", ended(Cause::signaled, by_signal(SIGXCPU)), two_seconds, Cause::cpu_limit},
      {"SIGSEGV after much CPU time", ended(Cause::signaled, by_signal(SIGSEGV, 9'000'000)),
       two_seconds, Cause::signaled},
      {"SIGXFSZ", ended(Cause::signaled, by_signal(SIGXFSZ)), no_limit, Cause::file_size_limit},
      {"SIGKILL with an OOM kill", ended(Cause::signaled, by_signal(SIGKILL)), out_of_memory,
       Cause::memory_limit},
      {"the launcher gone with an OOM kill", ended(Cause::tampered, std::nullopt), out_of_memory,
       Cause::memory_limit},
      {"the launcher gone without one", ended(Cause::tampered, std::nullopt), no_limit,
       Cause::tampered},
      {"a clean exit although a child was OOM-killed", ended(Cause::exited, Exit{.code = 0}),
       out_of_memory, Cause::exited},
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

TEST_CASE("each cause has a name of its own") {
  std::set<std::string_view> names;
  int causes = 0;
  for (const Cause cause :
       {Cause::exited, Cause::signaled, Cause::wall_clock, Cause::cpu_limit, Cause::memory_limit,
        Cause::file_size_limit, Cause::killed_by_request, Cause::shutdown, Cause::cannot_execute,
        Cause::cannot_isolate, Cause::tampered, Cause::internal}) {
    names.insert(name_of(cause));
    ++causes;
  }
  CHECK(names.size() == static_cast<std::size_t>(causes));
}
