#pragma once
// Plan: one run reduced to data that can be printed, compared and recorded before anything starts.
// `paddock run --dry-run` prints it.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "kernel/confine/host.hpp"
#include "kernel/confine/launch_spec.hpp"
#include "kernel/confine/mounts.hpp"
#include "kernel/policy/policy.hpp"

namespace paddock::kernel {

// What LANG is where the policy does not say.
inline constexpr const char* lang_default = "C.UTF-8";

// What a run is given besides its policy. make_plan takes it as it is.
struct RunIdentity {
  std::string name{};             // in its launchers' command lines: is_run_name()
  std::optional<uid_t> host_uid;  // a host uid (and gid) of its own; absent: the supervisor's own
  std::string workspace;          // for runs without bubblewrap: a private directory on the host
  std::string cwd;                // for runs without bubblewrap: where to start; empty: workspace
  std::string cgroup{};  // its leaf, as /proc/PID/cgroup shows it to the supervisor; empty: none
  bool channel = false;  // its program is given a descriptor besides the standard streams
  std::string policy_hash{};  // of the policy, where that is known; empty: made of it

  bool operator==(const RunIdentity&) const = default;
};

struct Plan {
  std::string profile;
  std::string policy_hash;

  std::string name;                       // in the command line of each paddock-launch of the run
  std::string role;                       // of paddock-launch: "guard" around bubblewrap, or "init"
  LaunchSpec launch;                      // what paddock-launch does
  std::vector<std::string> bubblewrap;    // what fd_bubblewrap_args holds; empty: no bubblewrap
  std::map<int, std::string> files;       // descriptor -> contents, for bwrap --file
  std::vector<std::string> binds;         // host paths that the run sees, for the receipt
  std::vector<std::string> system_binds;  // the same, of the host's own /etc and the like
  std::string workspace;  // a host path that it sees as its workspace; empty: a private one

  // What must be seen on the process, or it is refused.
  std::vector<std::string> new_namespaces;  // names as in /proc/PID/ns
  std::vector<Mount> mounts;
  std::string cgroup_leaf;
  std::map<std::string, std::string> cgroup_knobs;  // "memory.max" -> "536870912"
  std::string filter_hash;      // SHA-256 of the system call filter, in hex; empty: no filter
  std::string program_at_gate;  // as /proc/PID/exe shows it
  std::map<std::string, std::string> not_namespaces;   // of a warm run: its zygote's, by name
  std::map<std::string, std::uint64_t> not_devices{};  // and the devices of its zygote's mounts
  std::int32_t not_session_keyring = 0;                // and its zygote's; 0: it cannot be told

  CgroupLimits cgroup;

  std::optional<std::chrono::milliseconds> wall_clock;  // from the opened gate to SIGTERM
  std::chrono::milliseconds grace{};                    // from SIGTERM to SIGKILL
  std::uint64_t output_bytes = 0;                       // kept per stream
  std::optional<std::uint64_t> output_stop_bytes;  // of both streams together: then it is stopped

  std::vector<std::string> degraded;  // controls asked for and missing; empty unless allow_degraded

  bool operator==(const Plan&) const = default;
};

// Pure: same input, same plan. Fails with invalid_request if argv is empty, and with
// sandbox_not_available if the host cannot give what the policy requires.
Result<Plan> make_plan(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                       const HostFacts& host, const RunIdentity& identity);

}  // namespace paddock::kernel
