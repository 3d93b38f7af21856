#include "kernel/confine/landlock.hpp"

#include <linux/landlock.h>

#include <algorithm>

#include "kernel/confine/launch_wire.hpp"
#include "support/catch.hpp"
#include "support/sample_host.hpp"

using namespace paddock::kernel;

namespace {

HostFacts host_with(unsigned abi) {
  HostFacts host = merged_host();
  host.landlock_abi = abi;
  return host;
}

SandboxPolicy sandboxed() {
  SandboxPolicy policy;
  policy.use_bubblewrap = true;
  policy.landlock = {.use = LandlockUse::if_supported, .abi = 2};
  policy.bind_ro = {"/usr", "/srv/data"};
  policy.bind_rw = {"/srv/work"};
  return policy;
}

SandboxPolicy unsandboxed() {
  SandboxPolicy policy;
  policy.landlock = {.use = LandlockUse::if_supported, .abi = 2};
  return policy;
}

std::uint64_t access_to(const LandlockRules& rules, const std::string& path) {
  const auto rule = std::find_if(rules.allowed.begin(), rules.allowed.end(),
                                 [&](const LandlockRule& one) { return one.path == path; });
  return rule == rules.allowed.end() ? 0 : rule->access;
}

constexpr std::uint64_t writes =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE;

}  // namespace

TEST_CASE("no rules are made if nobody wants them or the kernel has less than asked for") {
  SandboxPolicy policy = sandboxed();
  CHECK(landlock_rules(policy, host_with(0)) == LandlockRules{});
  CHECK(landlock_rules(policy, host_with(1)) == LandlockRules{});
  CHECK_FALSE(landlock_rules(policy, host_with(2)) == LandlockRules{});
  policy.landlock.use = LandlockUse::never;
  CHECK(landlock_rules(policy, host_with(7)) == LandlockRules{});
}

TEST_CASE("in a sandbox only what is meant to be changed can be changed") {
  const LandlockRules rules = landlock_rules(sandboxed(), host_with(7));
  for (const char* path :
       {"/srv/work", "/tmp", "/workspace", "/home/agent", "/dev/shm", "/var/tmp"})
    CHECK((access_to(rules, path) & writes) == writes);
  for (const char* path : {"/", "/usr", "/srv/data", "/etc", "/proc"})
    CHECK((access_to(rules, path) & writes) == 0);
  CHECK((access_to(rules, "/dev") & LANDLOCK_ACCESS_FS_MAKE_REG) == 0);
}

TEST_CASE(
    "in a sandbox programs run from where programs are, and from nowhere else but the "
    "run's own directories") {
  const LandlockRules rules = landlock_rules(sandboxed(), host_with(7));
  for (const char* path : {"/usr", "/srv/data", "/etc", "/workspace"})
    CHECK((access_to(rules, path) & LANDLOCK_ACCESS_FS_EXECUTE) != 0);
  for (const char* path : {"/", "/proc", "/dev"})
    CHECK((access_to(rules, path) & LANDLOCK_ACCESS_FS_EXECUTE) == 0);
}

TEST_CASE("nobody is given device nodes to make") {
  for (const LandlockRule& rule : landlock_rules(sandboxed(), host_with(7)).allowed)
    CHECK((rule.access & (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)) == 0);
}

TEST_CASE("only rights that the kernel's ABI knows are named") {
  // Source: linux/landlock.h; ABI 2 added refer (13), 3 truncate (14), 5 ioctl on devices (15).
  const auto highest = [](unsigned abi) {
    const LandlockRules rules = landlock_rules(sandboxed(), host_with(abi));
    for (const LandlockRule& rule : rules.allowed) CHECK((rule.access & ~rules.handled_file) == 0);
    return rules.handled_file;
  };
  CHECK(highest(2) == (1u << 14) - 1);
  CHECK(highest(3) == (1u << 15) - 1);
  CHECK(highest(4) == (1u << 15) - 1);
  CHECK(highest(5) == (1u << 16) - 1);
  CHECK(highest(7) == (1u << 16) - 1);
}

TEST_CASE("signals and abstract sockets are scoped from ABI 6 on") {
  CHECK(landlock_rules(sandboxed(), host_with(5)).scoped == 0);
  CHECK(landlock_rules(sandboxed(), host_with(6)).scoped ==
        (landlock_scope_signal | landlock_scope_abstract_unix));
  // Without a sandbox the host's network, abstract sockets included, is the user's.
  CHECK(landlock_rules(unsandboxed(), host_with(6)).scoped == landlock_scope_signal);
}

TEST_CASE("without a sandbox files stay as the user has them") {
  const LandlockRules rules = landlock_rules(unsandboxed(), host_with(7));
  CHECK(rules.handled_file ==
        (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_REFER));
  // Otherwise no file could be renamed into another directory.
  CHECK(access_to(rules, "/") == LANDLOCK_ACCESS_FS_REFER);
}

TEST_CASE("/var/tmp has no rule where an operator bound it or what is above it") {
  SandboxPolicy policy = sandboxed();
  policy.bind_ro.push_back("/var");
  CHECK(access_to(landlock_rules(policy, host_with(7)), "/var/tmp") == 0);
}

TEST_CASE("/var/tmp can only be read where something is shown read-only below it") {
  SandboxPolicy policy = sandboxed();
  policy.bind_rw.push_back("/var/tmp/work");
  CHECK((access_to(landlock_rules(policy, host_with(7)), "/var/tmp") & writes) == writes);
  policy.bind_ro.push_back("/var/tmp/data");
  CHECK((access_to(landlock_rules(policy, host_with(7)), "/var/tmp") & writes) == 0);
}

TEST_CASE("rights and scopes have the names of the kernel's header") {
  using Names = std::vector<std::string>;
  CHECK(names_of_rights(0).empty());
  CHECK(names_of_rights(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_SYM |
                        LANDLOCK_ACCESS_FS_REFER) == Names{"execute", "make_sym", "refer"});
  CHECK(names_of_rights((1u << 16) - 1).size() == 16);
  CHECK(names_of_scopes(3) == Names{"abstract_unix_socket", "signal"});
}

TEST_CASE("what must be refused at the gate follows from the rules") {
  CHECK(expected_landlock_seen(landlock_rules(sandboxed(), host_with(7))) ==
        (landlock_seen_file | landlock_seen_signal));
  CHECK(expected_landlock_seen(landlock_rules(sandboxed(), host_with(2))) == landlock_seen_file);
  CHECK(expected_landlock_seen(landlock_rules(unsandboxed(), host_with(7))) ==
        landlock_seen_signal);
  CHECK(expected_landlock_seen(LandlockRules{}) == 0);
}
