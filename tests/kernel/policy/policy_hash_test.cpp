#include <functional>
#include <set>

#include "kernel/policy/policy.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;
using namespace std::chrono_literals;

TEST_CASE("the canonical text spells out every field, one a line") {
  SandboxPolicy policy;
  policy.profile = "STRICT";
  policy.cpu_seconds = 120;
  policy.memory_bytes = 512u << 20;
  policy.wall_clock = 300s;
  policy.cgroup.cpu_max = 1.5;
  policy.use_bubblewrap = true;
  policy.bind_ro = {"/usr", "/opt/a \"b\""};
  policy.environment = {{"LANG", "C"}, {"TZ", "a\nb"}};
  CHECK(canonical_text(policy) ==
        "profile = \"STRICT\"\n"
        "cpu_seconds = 120\n"
        "memory_bytes = 512MiB\n"
        "fsize_bytes = unlimited\n"
        "nproc = unlimited\n"
        "nofile = unlimited\n"
        "core_size = 0B\n"
        "wall_seconds = 300s\n"
        "grace_seconds = 1s\n"
        "output_bytes = 10MiB\n"
        "output_stop_bytes = unlimited\n"
        "cgroup.use = if_delegated\n"
        "cgroup.memory_max = unlimited\n"
        "cgroup.pids_max = unlimited\n"
        "cgroup.cpu_max = 1.5\n"
        "use_bubblewrap = true\n"
        "bind_ro = [\"/usr\", \"/opt/a \\\"b\\\"\"]\n"
        "bind_rw = []\n"
        "workdir = \"\"\n"
        "tmp_bytes = 64MiB\n"
        "workspace_bytes = 256MiB\n"
        "workspace = \"\"\n"
        "deny_network = false\n"
        "new_session = true\n"
        "seccomp = off\n"
        "own_host_uid = false\n"
        "landlock.use = never\n"
        "landlock.abi = 1\n"
        "environment = {\"LANG\" = \"C\", \"TZ\" = \"a\\u000Ab\"}\n"
        "allow_degraded = false\n");
}

TEST_CASE("the hash is the SHA-256 of the canonical text") {
  // Computed with sha256sum over the text that `canonical_text(SandboxPolicy{})` gives.
  CHECK(policy_hash(SandboxPolicy{}) ==
        "370052088c581568cddc546a64be45fe5428cb74f20ee66293547d7f136d04c8");
}

// Goal: two policies that differ anywhere have different hashes.
// Method: change one field at a time and collect the hashes.
TEST_CASE("the hash covers every field") {
  using Change = std::function<void(SandboxPolicy&)>;
  const std::vector<Change> changes{
      [](SandboxPolicy&) {},
      [](SandboxPolicy& p) { p.profile = "other"; },
      [](SandboxPolicy& p) { p.cpu_seconds = 1; },
      [](SandboxPolicy& p) { p.memory_bytes = 1; },
      [](SandboxPolicy& p) { p.fsize_bytes = 1; },
      [](SandboxPolicy& p) { p.nproc = 1; },
      [](SandboxPolicy& p) { p.nofile = 1; },
      [](SandboxPolicy& p) { p.core_size = 1; },
      [](SandboxPolicy& p) { p.wall_clock = 1ms; },
      [](SandboxPolicy& p) { p.grace = 1ms; },
      [](SandboxPolicy& p) { p.output_bytes = 1; },
      [](SandboxPolicy& p) { p.output_stop_bytes = 1; },
      [](SandboxPolicy& p) { p.cgroup.use = CgroupUse::never; },
      [](SandboxPolicy& p) { p.cgroup.use = CgroupUse::required; },
      [](SandboxPolicy& p) { p.cgroup.memory_max = 1; },
      [](SandboxPolicy& p) { p.cgroup.pids_max = 1; },
      [](SandboxPolicy& p) { p.cgroup.cpu_max = 1; },
      [](SandboxPolicy& p) { p.use_bubblewrap = true; },
      [](SandboxPolicy& p) { p.bind_ro = {"/a"}; },
      [](SandboxPolicy& p) {
        p.bind_ro = {"/a", "/b"};
      },
      [](SandboxPolicy& p) { p.bind_ro = {"/a\", \"/b"}; },
      [](SandboxPolicy& p) { p.bind_rw = {"/a"}; },
      [](SandboxPolicy& p) { p.workdir = "/a"; },
      [](SandboxPolicy& p) { p.tmp_bytes = 1; },
      [](SandboxPolicy& p) { p.workspace_bytes = 1; },
      [](SandboxPolicy& p) { p.workspace = "/a"; },
      [](SandboxPolicy& p) { p.deny_network = true; },
      [](SandboxPolicy& p) { p.new_session = false; },
      [](SandboxPolicy& p) { p.seccomp = SeccompUse::default_list; },
      [](SandboxPolicy& p) { p.seccomp = SeccompUse::strict; },
      [](SandboxPolicy& p) { p.own_host_uid = true; },
      [](SandboxPolicy& p) { p.landlock.use = LandlockUse::if_supported; },
      [](SandboxPolicy& p) { p.landlock.use = LandlockUse::required; },
      [](SandboxPolicy& p) { p.landlock.abi = 2; },
      [](SandboxPolicy& p) {
        p.environment = {{"A", "b"}};
      },
      [](SandboxPolicy& p) {
        p.environment = {{"A", "b\nallow_degraded = true"}};
      },
      [](SandboxPolicy& p) {
        p.environment = {{"A", "b\\nallow_degraded = true"}};
      },
      [](SandboxPolicy& p) { p.allow_degraded = true; },
  };
  std::set<std::string> hashes;
  for (const Change& change : changes) {
    SandboxPolicy policy;
    change(policy);
    const std::string hash = policy_hash(policy);
    CHECK(hash.size() == 64);
    hashes.insert(hash);
  }
  CHECK(hashes.size() == changes.size());
}
