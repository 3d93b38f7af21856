#pragma once
// run_sandboxed: one run from start to end, without the daemon. Blocks.

#include <map>
#include <string>
#include <vector>

#include "kernel/policy/policy.hpp"
#include "kernel/run/result.hpp"
#include "kernel/run/run.hpp"

namespace paddock::kernel {

// Runs `argv` under `policy`, feeds it `stdin_bytes`, waits for the end. `env` is added to the
// policy's environment and held to the same rules; `cwd` is where a run without bubblewrap starts
// (empty: a fresh private directory). Fails with sandbox_policy_error if the policy is not valid
// and with sandbox_not_available if this host cannot give what it requires; a run that ended badly
// is a result, not an error.
Result<SandboxResult> run_sandboxed(const std::vector<std::string>& argv,
                                    const SandboxPolicy& policy, std::string stdin_bytes = {},
                                    const std::map<std::string, std::string>& env = {},
                                    const std::string& cwd = {});

// For poll's timeout: until `time`, rounded up, since waking a moment early would only mean waiting
// again; -1, for ever, without one. For drivers.
int milliseconds_until(const std::optional<Clock::time_point>& time);

// Drives `run` with poll until it is finished. `also_watch` may name more descriptors (a signalfd,
// the terminal's stdin): the readiness of each calls its `on_ready`, whose return value says
// whether to go on watching it.
struct AlsoWatch {
  int fd = -1;
  std::function<bool()> on_ready;
};
void drive(Run& run, std::vector<AlsoWatch> also_watch = {});

}  // namespace paddock::kernel
