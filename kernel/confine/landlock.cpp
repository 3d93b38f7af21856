#include "kernel/confine/landlock.hpp"

#include <algorithm>
#include <array>

#include "kernel/confine/bubblewrap.hpp"
#include "kernel/confine/launch_wire.hpp"

namespace paddock::kernel {
namespace {

// LANDLOCK_ACCESS_FS_* of linux/landlock.h, whose newer names older headers do not have.
constexpr std::uint64_t execute = 1u << 0;
constexpr std::uint64_t write_file = 1u << 1;
constexpr std::uint64_t read_files = 1u << 2;
constexpr std::uint64_t read_directory = 1u << 3;
constexpr std::uint64_t make_char = 1u << 6;
constexpr std::uint64_t make_block = 1u << 11;
constexpr std::uint64_t abi_1_rights = (1u << 13) - 1;
constexpr std::uint64_t refer = 1u << 13;      // ABI 2: rename and link across directories
constexpr std::uint64_t truncate = 1u << 14;   // ABI 3
constexpr std::uint64_t ioctl_dev = 1u << 15;  // ABI 5

std::uint64_t rights_of(unsigned abi) {
  std::uint64_t rights = abi_1_rights;
  if (abi >= 2) rights |= refer;
  if (abi >= 3) rights |= truncate;
  if (abi >= 5) rights |= ioctl_dev;
  return rights;
}

// The rights that the agent's file system already suggests, as a second lock on the same door.
void add_sandbox_rules(const SandboxPolicy& policy, const HostFacts& host, LandlockRules& rules) {
  const auto allow = [&](const std::string& path, std::uint64_t access) {
    rules.allowed.push_back({path, access & rules.handled_file});
  };
  const std::uint64_t look = read_files | read_directory;
  allow("/", read_directory);
  allow("/etc", look | execute);
  for (const std::string& path : host.system_directories) allow(path, look | execute);
  for (const std::string& path : policy.bind_ro) allow(path, look | execute);
  allow("/proc", look);
  allow("/dev", look | write_file | truncate | ioctl_dev);
  // Everything but device nodes, which nobody here has the right to make in any case.
  const std::uint64_t change = rules.handled_file & ~(make_char | make_block);
  for (const char* path : {"/dev/shm", "/tmp", sandbox_home, sandbox_workspace})
    allow(path, change);
  // Not where a read-only bind lies below it: rights add up, and a read-only mount keeps nobody
  // from writing to a FIFO in it.
  const bool shows_below =
      std::any_of(policy.bind_ro.begin(), policy.bind_ro.end(),
                  [](const std::string& path) { return path.starts_with("/var/tmp/"); });
  if (has_own_var_tmp(policy)) allow("/var/tmp", shows_below ? look : change);
  for (const std::string& path : policy.bind_rw) allow(path, change);
}

}  // namespace

LandlockRules landlock_rules(const SandboxPolicy& policy, const HostFacts& host) {
  LandlockRules rules;
  if (policy.landlock.use == LandlockUse::never || host.landlock_abi < policy.landlock.abi)
    return rules;
  rules.abi = host.landlock_abi;
  if (policy.use_bubblewrap) {
    rules.handled_file = rights_of(rules.abi);
    add_sandbox_rules(policy, host, rules);
  } else {
    // A domain and no more: files stay as the user has them. It takes at least one right to make
    // one, so the making of device nodes is handled; and from ABI 2 on `refer`, which is refused
    // everywhere unless somebody allows it.
    rules.handled_file = make_char | make_block;
    if (rules.abi >= 2) {
      rules.handled_file |= refer;
      rules.allowed.push_back({"/", refer});
    }
  }
  if (rules.abi >= 6) {
    rules.scoped = landlock_scope_signal;
    // Without bubblewrap the program has the host's network as its user has it, which abstract
    // sockets belong to.
    if (policy.use_bubblewrap) rules.scoped |= landlock_scope_abstract_unix;
  }
  return rules;
}

std::vector<std::string> names_of_rights(std::uint64_t access) {
  constexpr std::array names = {"execute",    "write_file",  "read_file", "read_dir",
                                "remove_dir", "remove_file", "make_char", "make_dir",
                                "make_reg",   "make_sock",   "make_fifo", "make_block",
                                "make_sym",   "refer",       "truncate",  "ioctl_dev"};
  std::vector<std::string> found;
  for (std::size_t bit = 0; bit < names.size(); ++bit)
    if ((access >> bit & 1) != 0) found.emplace_back(names[bit]);
  return found;
}

std::vector<std::string> names_of_scopes(std::uint64_t scoped) {
  std::vector<std::string> found;
  if ((scoped & landlock_scope_abstract_unix) != 0) found.emplace_back("abstract_unix_socket");
  if ((scoped & landlock_scope_signal) != 0) found.emplace_back("signal");
  return found;
}

std::uint32_t expected_landlock_seen(const LandlockRules& rules) {
  std::uint32_t expected = 0;
  if ((rules.handled_file & write_file) != 0) expected |= landlock_seen_file;
  if ((rules.scoped & landlock_scope_signal) != 0) expected |= landlock_seen_signal;
  return expected;
}

}  // namespace paddock::kernel
