#pragma once
// What this host has, as plain data: looked at once, then passed to make_plan, which looks at
// nothing. A test writes its own HostFacts.

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::kernel {

// The AgentSandbox RFC's question: which tools could isolate? Absolute paths.
struct IsolationTools {
  std::optional<std::string> bubblewrap;
  std::optional<std::string> firejail;  // reported, never used
};
IsolationTools detect_isolation_tools();

// Whoever has no right to anything.
constexpr uid_t nobody = 65534;

struct HostFacts {
  std::string bubblewrap;          // absolute path; empty: none that can be used
  std::string bubblewrap_version;  // "0.8.0"
  std::string bubblewrap_problem;  // if `bubblewrap` is empty: why, with the fix

  // /bin, /lib64 ... as this host has them: merged into /usr (name, link target) or real
  // directories.
  std::vector<std::pair<std::string, std::string>> usr_links;
  std::vector<std::string> system_directories;

  std::vector<std::string> etc_binds;   // of /etc/alternatives, ld.so.cache ...: those that exist
  std::vector<std::string> proc_masks;  // /proc entries to hide: those that exist
  std::string localtime;                // the bytes of /etc/localtime; empty: UTC
  std::string resolv_conf;              // the bytes of /etc/resolv.conf, for runs with a network
  std::string certificates;             // /etc/ssl/certs if it exists, for runs with a network

  uid_t uid = 0;  // of this process
  gid_t gid = 0;
  std::string kernel_release;
  unsigned landlock_abi = 0;     // 0: the kernel has no Landlock, or it is not turned on
  bool seccomp = false;          // the kernel takes system call filters
  bool user_namespaces = false;  // a process of this user can make one
  std::string user_namespaces_problem;

  bool operator==(const HostFacts&) const = default;
};

// Looks. Starts `bwrap --version` and one forked child that tries to make a user namespace.
HostFacts detect_host();

}  // namespace paddock::kernel
