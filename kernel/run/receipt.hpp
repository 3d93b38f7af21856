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
  pid_t pid = -1;      // as the supervisor sees it
  uid_t host_uid = 0;  // real, effective, saved and of files: all alike, or observe fails
  gid_t host_gid = 0;
  std::string groups;  // supplementary, as the kernel lists them
  std::map<std::string, std::string>
      rlimits;                              // "cpu_seconds" -> "120" or "unlimited", soft == hard
  std::vector<std::string> new_namespaces;  // those that differ from the supervisor's
  std::map<std::string, std::string> namespaces;  // each, as the kernel names it
  bool no_new_privs = false;
  std::string capabilities;  // in the inheritable, permitted, effective or ambient set; hex
  std::string bounding_set;  // of capabilities, hex
  unsigned filters = 0;      // system call filters, beyond those that the supervisor has itself
  std::vector<Mount> mounts_on_host;  // those of the supervisor, for runs with other ones
  std::vector<Mount> mounts;          // as its mount namespace has them; for runs with bubblewrap
  std::vector<int> descriptors;       // that the program will inherit
  std::string cgroup;                 // of cgroup v2, or empty
  bool leads_session = false;
  std::string umask;              // octal, "0022"
  std::string signals_held_back;  // blocked or ignored; hex
  std::string oom_score_adj;      // "500"
  std::string program;            // what it executes, as /proc/PID/exe says; looked at last of all

  // Not from /proc/PID: the run adds these.
  std::map<std::string, std::string> cgroup_knobs;  // as the kernel now shows them
  unsigned landlock_abi = 0;                        // of the rules that were set; 0: none
  std::uint32_t landlock_seen = 0;  // landlock_seen_* bits: what it refused to paddock-launch, in
                                    // the agent's process, before the program
  std::uint32_t self_seen = 0;      // self_seen_* bits, from there too
  bool shares_session_keyring = false;  // with the supervisor, or a warm run with its zygote
  std::map<std::string, std::uint64_t> devices{};  // of the mounts in Plan::not_devices
  std::vector<std::string> traceable;  // processes of the launch chain that their user can trace

  bool has_own_mounts() const;

  bool operator==(const Receipt&) const = default;
};

// Reads /proc/PID/{status,stat,limits,ns,cgroup,mountinfo,fdinfo,oom_score_adj,exe}. Fails with io
// if the process is gone or not readable.
Result<Receipt> observe(pid_t pid);

// Can a process of the same user trace it, read its memory, take its descriptors?
bool is_traceable(pid_t pid);

// What differs between plan and receipt, for people; empty: it is as planned. Pure.
std::vector<std::string> compare(const Plan& plan, const Receipt& receipt);

}  // namespace paddock::kernel
