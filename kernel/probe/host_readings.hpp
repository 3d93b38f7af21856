#pragma once
// What doctor reads about a host besides HostFacts: settings that explain why something is missing,
// or that weaken what is there. Only read; findings.hpp draws the conclusions.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace paddock::kernel {

struct FileReading {
  std::string path;
  uid_t owner = 0;
  bool others_may_write = false;  // group or others; a directory with the sticky bit does not count

  bool operator==(const FileReading&) const = default;
};

struct HostReadings {
  // Absent: this kernel has no such setting.
  std::optional<long> max_user_namespaces;         // user.max_user_namespaces
  std::optional<long> unprivileged_userns_clone;   // kernel.unprivileged_userns_clone
  std::optional<long> apparmor_restricts_userns;   // kernel.apparmor_restrict_unprivileged_userns
  std::optional<long> ptrace_scope;                // kernel.yama.ptrace_scope
  std::optional<long> legacy_tiocsti;              // dev.tty.legacy_tiocsti
  std::string core_pattern;                        // kernel.core_pattern
  bool filtered = false;                           // this process has a system call filter itself
  bool hidepid = false;                            // of /proc
  bool swap = false;                               // some is in use
  std::vector<FileReading> bubblewrap;             // the file, and each directory above it
  std::optional<bool> bubblewrap_follows_links{};  // from the probes

  bool operator==(const HostReadings&) const = default;
};

// `bubblewrap` is its path, or empty.
HostReadings read_host(const std::string& bubblewrap);

}  // namespace paddock::kernel
