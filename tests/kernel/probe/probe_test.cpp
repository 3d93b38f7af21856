#include "kernel/probe/probe.hpp"

#include <cerrno>
#include <csignal>

#include <algorithm>
#include <set>

#include "support/catch.hpp"
#include "support/sample_host.hpp"

using namespace paddock::kernel;
using Kind = Answer::Kind;

namespace {

using NameSet = std::set<std::string_view>;

HostFacts capable_host() {
  HostFacts host = merged_host();
  host.landlock_abi = 7;
  return host;
}

NameSet names_for(const SandboxPolicy& policy, const HostFacts& host,
                  std::vector<std::string> controllers = {}) {
  NameSet names;
  for (const Probe* probe :
       probes_for({.policy = policy, .host = host, .controllers = std::move(controllers)}))
    names.insert(probe->name);
  return names;
}

SandboxPolicy isolating() {
  SandboxPolicy policy;
  policy.use_bubblewrap = true;
  policy.deny_network = true;
  policy.bind_ro = {"/usr"};
  return policy;
}

const Probe& probe(std::string_view name) {
  const auto& all = all_probes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Probe& one) { return one.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

constexpr Answer done{.kind = Kind::done};
Answer refused(int error) {
  return {.kind = Kind::refused, .number = error};
}

}  // namespace

TEST_CASE("every probe has a name of its own, of small letters, and a control") {
  NameSet names;
  for (const Probe& one : all_probes()) {
    INFO(one.name);
    CHECK(names.insert(one.name).second);
    CHECK(one.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") ==
          std::string_view::npos);
    CHECK_FALSE(one.control.empty());
  }
}

TEST_CASE("a policy without any control is only held to leave nothing behind") {
  CHECK(names_for({}, capable_host()) == NameSet{"nothing_outlives_the_run"});
}

TEST_CASE("each control of a policy brings its probes") {
  const NameSet isolated = names_for(isolating(), capable_host());
  for (const char* name :
       {"network_is_unreachable", "host_sockets_are_unreachable", "user_namespace_is_refused",
        "host_file_is_unreadable", "host_directory_is_unwritable", "root_is_read_only",
        "bind_is_read_only", "planted_link_is_refused", "host_processes_are_hidden",
        "tmp_bytes_holds", "workspace_bytes_holds"}) {
    INFO(name);
    CHECK(isolated.contains(name));
  }
  CHECK_FALSE(isolated.contains("vsock_is_refused"));
  CHECK_FALSE(isolated.contains("init_is_untraceable"));

  SandboxPolicy filtered;
  filtered.seccomp = SeccompUse::default_list;
  const NameSet by_filter = names_for(filtered, capable_host());
  for (const char* name :
       {"vsock_is_refused", "netlink_is_refused", "keyring_is_refused", "io_uring_is_refused",
        "int80_is_fatal", "x32_is_fatal", "user_namespace_is_refused"})
    CHECK(by_filter.contains(name));

  SandboxPolicy limited;
  limited.memory_bytes = 1;
  limited.nproc = 1;
  limited.nofile = 1;
  limited.fsize_bytes = 1;
  limited.wall_clock = std::chrono::milliseconds(1);
  for (const char* name : {"memory_bytes_holds", "nproc_holds", "nofile_holds", "fsize_bytes_holds",
                           "wall_seconds_holds"})
    CHECK(names_for(limited, capable_host()).contains(name));
}

TEST_CASE("what a run goes without on this host is not probed") {
  SandboxPolicy policy;
  policy.seccomp = SeccompUse::strict;
  policy.landlock = {.use = LandlockUse::if_supported, .abi = 2};
  policy.cgroup.memory_max = 1;
  policy.cgroup.pids_max = 1;
  HostFacts poor = capable_host();
  poor.seccomp = false;
  poor.landlock_abi = 1;
  CHECK(names_for(policy, poor) == NameSet{"nothing_outlives_the_run"});
  const NameSet rich = names_for(policy, capable_host(), {"memory", "pids"});
  for (const char* name : {"init_is_unreadable", "init_is_untraceable",
                           "host_processes_get_no_signal", "memory_max_holds", "pids_max_holds"})
    CHECK(rich.contains(name));
  HostFacts older = capable_host();
  older.landlock_abi = 5;
  CHECK_FALSE(names_for(policy, older).contains("host_processes_get_no_signal"));
}

TEST_CASE("a bind that shows the place of the secret takes its probes away") {
  for (const char* shown : {"/var", "/var/tmp"}) {
    SandboxPolicy policy = isolating();
    policy.bind_ro.push_back(shown);
    const NameSet names = names_for(policy, capable_host());
    CHECK_FALSE(names.contains("host_file_is_unreadable"));
    CHECK_FALSE(names.contains("host_directory_is_unwritable"));
    CHECK(names.contains("root_is_read_only"));
  }
  SandboxPolicy below = isolating();
  below.bind_ro.push_back("/var/tmp/data");
  CHECK(names_for(below, capable_host()).contains("host_file_is_unreadable"));
}

TEST_CASE("limits are lowered so that they are reached at once, and never raised") {
  SandboxPolicy policy = isolating();
  policy.nproc = 4096;
  policy.nofile = 16;
  policy.tmp_bytes = 1u << 30;
  policy.cgroup.pids_max = 8192;
  policy.cgroup.memory_max = 1u << 30;
  policy.memory_bytes = 1u << 30;
  const SandboxPolicy shared = probe_policy(policy, ProbeRun::shared);
  CHECK(shared.nproc == 24);
  CHECK(shared.nofile == 16);
  CHECK(shared.tmp_bytes == 1u << 20);
  CHECK(shared.memory_bytes == policy.memory_bytes);
  CHECK_FALSE(shared.fsize_bytes.has_value());
  CHECK(shared.cgroup == policy.cgroup);
  CHECK(shared.wall_clock.has_value());  // whatever happens, it ends
  const SandboxPolicy pids = probe_policy(policy, ProbeRun::pids);
  CHECK_FALSE(pids.nproc.has_value());  // would be reached first
  CHECK(pids.cgroup.pids_max == 24);
  const SandboxPolicy memory = probe_policy(policy, ProbeRun::memory);
  CHECK_FALSE(memory.memory_bytes.has_value());
  CHECK(memory.cgroup.memory_max == 16u << 20);
}

TEST_CASE("a probe passes if it works unconfined and the control stops it in the named way") {
  const Probe& keyring = probe("keyring_is_refused");
  CHECK(judge(keyring, done, refused(EPERM)) == ProbeVerdict::passed);
  CHECK(judge(keyring, refused(ENOSYS), refused(EPERM)) == ProbeVerdict::passed);
  CHECK(judge(keyring, refused(EPERM), refused(EPERM)) == ProbeVerdict::unsupported);
  CHECK(judge(keyring, {.kind = Kind::cannot}, refused(EPERM)) == ProbeVerdict::unsupported);
  CHECK(judge(keyring, {}, refused(EPERM)) == ProbeVerdict::unsupported);
  CHECK(judge(keyring, done, refused(EACCES)) == ProbeVerdict::unsupported);
  CHECK(judge(keyring, done, {.kind = Kind::cannot}) == ProbeVerdict::unsupported);
}

TEST_CASE("a probe fails if it worked or never answered, whatever it did unconfined") {
  const Probe& keyring = probe("keyring_is_refused");
  for (const Answer& unconfined : {done, refused(EPERM), Answer{}}) {
    CHECK(judge(keyring, unconfined, done) == ProbeVerdict::failed);
    CHECK(judge(keyring, unconfined, {}) == ProbeVerdict::failed);
  }
}

TEST_CASE("a refusal names the probe, its control and what happened") {
  ProbeReport report;
  report.results = {{"a_holds", "a", ProbeVerdict::passed, "done", "refused EPERM"},
                    {"b_holds", "b", ProbeVerdict::unsupported, "done", "refused EPERM"}};
  CHECK(refusal("MINE", report).empty());
  report.results.push_back({"c_holds", "[cgroup] c", ProbeVerdict::failed, "done", "done"});
  CHECK(refusal("MINE", report) ==
        "profile 'MINE' does not hold here, by its probe 'c_holds' ([cgroup] c): done");
  CHECK(refusal("MINE", {.not_run = "no room", .results = {}}) ==
        "profile 'MINE' could not be probed: no room");
}
