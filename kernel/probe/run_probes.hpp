#pragma once
// Tries probes: unconfined for comparison, then each under its policy, as real runs. Blocks: with
// six profiles for about a tenth of a second.

#include <optional>
#include <vector>

#include "kernel/probe/probe.hpp"
#include "kernel/run/sandbox.hpp"

namespace paddock::kernel {

struct ProbeTask {
  SandboxPolicy policy;  // valid, as check_policy has it: what the host is held to
  std::vector<const Probe*> probes;
  // For tests: what the runs get instead, with a control taken away.
  std::optional<SandboxPolicy> weakened{};
};

struct ProbeOutcome {
  std::vector<ProbeReport> reports;  // one for each task
  // Did bubblewrap by itself make something behind a planted link? Absent: nobody asked, or it
  // could not be started.
  std::optional<bool> bubblewrap_follows_links;

  bool operator==(const ProbeOutcome&) const = default;
};

// Fails with internal if paddock-probe is not installed, and with io if there is nowhere to try.
Result<ProbeOutcome> run_probes(const Sandbox& sandbox, const std::vector<ProbeTask>& tasks);

// The probes that apply to `policy`, all of them.
ProbeTask task_for(const Sandbox& sandbox, const SandboxPolicy& policy);

}  // namespace paddock::kernel
