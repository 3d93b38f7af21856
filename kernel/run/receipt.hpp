#pragma once
// Receipt: what confinement was observed on the agent's process from outside, while it waited at
// the gate. It is compared with the plan before the program may start, and stored with the run.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "kernel/run/plan.hpp"

namespace paddock::kernel {

struct Receipt {
  pid_t pid = -1;  // as the supervisor sees it
  uid_t host_uid = 0;
  std::map<std::string, std::string>
      rlimits;                              // "cpu_seconds" -> "120" or "unlimited", soft == hard
  std::vector<std::string> new_namespaces;  // those that differ from the supervisor's
  bool no_new_privs = false;
  std::string capabilities;  // in the inheritable, permitted, effective or ambient set; hex
  std::string cgroup;        // of cgroup v2, or empty

  bool operator==(const Receipt&) const = default;
};

// Reads /proc/PID/{status,limits,ns,cgroup}. Fails with io if the process is gone or not readable.
Result<Receipt> observe(pid_t pid);

// What differs between plan and receipt, for people; empty: it is as planned. Pure.
std::vector<std::string> compare(const Plan& plan, const Receipt& receipt);

}  // namespace paddock::kernel
