#pragma once
// SandboxPolicy -> bubblewrap's arguments. Pure: it starts nothing and looks at nothing.
//
// Everything is said explicitly. The -all and -try forms of bubblewrap's options downgrade in
// silence and are never used.

#include <map>
#include <string>
#include <vector>

#include "kernel/confine/host.hpp"
#include "kernel/policy/policy.hpp"

namespace paddock::kernel {

constexpr const char* sandbox_home = "/home/agent";
constexpr const char* sandbox_workspace = "/workspace";
constexpr unsigned sandbox_uid =
    1000;  // the agent's ids as it sees them; outside it has the host uid

struct BubblewrapCall {
  std::vector<std::string> arguments;  // for --args, in order: a later mount covers an earlier one
  std::map<int, std::string> files;    // descriptor -> contents of a synthetic file

  bool operator==(const BubblewrapCall&) const = default;
};

// /var/tmp is the sandbox's own, and not what the operator bound there.
bool has_own_var_tmp(const SandboxPolicy& policy);
// Then it is a link to /tmp, unless a bind lies below it: then a tmpfs.
bool var_tmp_is_tmpfs(const SandboxPolicy& policy);

// A zygote's sandbox is what its forks have in common: nothing in it can be written, /proc is
// uncovered (else the kernel lets nobody mount another), and user namespaces can be made.
enum class SandboxOf { run, zygote };

BubblewrapCall bubblewrap_call(const SandboxPolicy& policy, const HostFacts& host,
                               SandboxOf whose = SandboxOf::run);

// The RFC's form: argv with a complete bubblewrap command line before it, for people and for
// embedding programs. The synthetic files of /etc are left out, since a command line has no
// descriptors to carry them; runs started by paddock have them. Fails with
// sandbox_not_available if the policy wants bubblewrap and the host has none; returns argv
// unchanged if the policy does not want it.
Result<std::vector<std::string>> wrap_with_bubblewrap(const std::vector<std::string>& argv,
                                                      const SandboxPolicy& policy,
                                                      const HostFacts& host);
Result<std::vector<std::string>> wrap_with_bubblewrap(const std::vector<std::string>& argv,
                                                      const SandboxPolicy& policy);

}  // namespace paddock::kernel
