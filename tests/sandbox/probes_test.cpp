// The probes of kernel/probe, tried for real: under each shipped profile, and under the same with one
// control taken away.

#include "kernel/probe/run_probes.hpp"

#include <algorithm>

#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

const Sandbox& sandbox() {
  static const Sandbox opened = Sandbox::open({}).value();
  return opened;
}

ProbeReport report_of(const ProbeTask& task) {
  const auto outcome = run_probes(sandbox(), {task});
  if (!outcome) FAIL(outcome.error().message);
  UNSCOPED_INFO("not run: " << outcome->reports.front().not_run);
  for (const ProbeResult& result : outcome->reports.front().results)
    UNSCOPED_INFO(result.name << ": " << name_of(result.verdict) << ", " << result.confined
                              << "; unconfined: " << result.unconfined);
  return outcome->reports.front();
}

}  // namespace

TEST_CASE("no probe fails under a shipped profile") {
  for (const char* profile : {"OFF", "DEFAULT", "STRICT", "NODE", "JVM", "SEALED"}) {
    const ProbeReport report = report_of(task_for(sandbox(), policy_of(profile)));
    std::printf("== %s %s\n", profile, report.not_run.c_str());
    for (const ProbeResult& result : report.results)
      std::printf("%s: %s, %s; unconfined: %s\n", result.name.c_str(), std::string(name_of(result.verdict)).c_str(), result.confined.c_str(), result.unconfined.c_str());
  }
}
