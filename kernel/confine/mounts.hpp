#pragma once
// The mounts of a sandbox: as planned, as the kernel shows them, and what differs. Pure; the
// planned list is drawn up apart from bubblewrap's arguments on purpose, so that one checks the
// other.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/confine/host.hpp"
#include "kernel/policy/policy.hpp"

namespace paddock::kernel {

struct Mount {
  std::string path;  // as the agent sees it
  bool writable = false;
  std::optional<std::uint64_t> size_bytes;  // of a tmpfs that has a limit

  bool operator==(const Mount&) const = default;
};

// Empty without bubblewrap.
std::vector<Mount> planned_mounts(const SandboxPolicy& policy, const HostFacts& host);

// From the text of /proc/PID/mountinfo, in its order: a later mount covers an earlier one.
std::vector<Mount> parse_mountinfo(std::string_view text);
constexpr std::size_t mountinfo_bytes_max = 16u << 20;  // of the file; a host of many containers

// For people; empty: each planned mount is there as planned, and nothing else is mounted but what
// bubblewrap brings with --proc and --dev, and below a bind what the host has mounted at the same
// place (`on_host`).
std::vector<std::string> mount_differences(const std::vector<Mount>& planned,
                                           const std::vector<Mount>& seen,
                                           const std::vector<Mount>& on_host);

// What every sandbox has writable: device nodes, terminals of its own, /proc.
bool is_device_mount(const Mount& mount);

// "rw /tmp 64MiB"
std::string to_string(const Mount& mount);

}  // namespace paddock::kernel
