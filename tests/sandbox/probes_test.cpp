// The probes of kernel/probe, tried for real: under each shipped profile, where none may get
// through, and under a run from which the control was taken away, where each must.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include "kernel/policy/scratch_directory.hpp"
#include "kernel/probe/run_probes.hpp"
#include "sandbox/test_cgroup.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

const Sandbox& sandbox() {
  static const Sandbox opened = Sandbox::open({}).value();
  return opened;
}

ProbeReport report_of(const Sandbox& host, const ProbeTask& task) {
  const auto outcome = run_probes(host, {task});
  if (!outcome) FAIL(outcome.error().message);
  const ProbeReport& report = outcome->reports.front();
  UNSCOPED_INFO("profile " << task.policy.profile << ", not run: " << report.not_run);
  for (const ProbeResult& result : report.results)
    UNSCOPED_INFO(result.name << ": " << name_of(result.verdict) << ", " << result.confined
                              << "; unconfined: " << result.unconfined);
  return report;
}

std::vector<const Probe*> only(const std::string& name) {
  for (const Probe& probe : all_probes())
    if (probe.name == name) return {&probe};
  FAIL("there is no probe " << name);
  return {};
}

// The verdict of one probe of `policy` when the runs get `weakened`.
ProbeVerdict verdict_of(const std::string& name, const SandboxPolicy& policy,
                        const SandboxPolicy& weakened) {
  const ProbeReport report =
      report_of(sandbox(), {.policy = policy, .probes = only(name), .weakened = weakened});
  REQUIRE(report.results.size() == 1);
  return report.results.front().verdict;
}

struct Weakening {
  const char* probe;
  const char* profile;
  void (*take_away)(SandboxPolicy& policy);
};

void remove_filter(SandboxPolicy& policy) {
  policy.seccomp = SeccompUse::off;
}

void remove_isolation(SandboxPolicy& policy) {
  policy.use_bubblewrap = false;
  policy.deny_network = false;
  policy.bind_ro.clear();
}

const Weakening weakenings[] = {
    {"network_is_unreachable", "STRICT", [](SandboxPolicy& p) { p.deny_network = false; }},
    {"host_sockets_are_unreachable", "STRICT",
     [](SandboxPolicy& p) {
       p.deny_network = false;
       p.landlock.use = LandlockUse::never;
     }},
    {"vsock_is_refused", "STRICT", remove_filter},
    {"netlink_is_refused", "STRICT", remove_filter},
    {"keyring_is_refused", "STRICT", remove_filter},
    {"io_uring_is_refused", "STRICT", remove_filter},
    {"int80_is_fatal", "STRICT", remove_filter},
    {"vsock_is_refused", "DEFAULT", remove_filter},
    {"keyring_is_refused", "DEFAULT", remove_filter},
    {"user_namespace_is_refused", "DEFAULT", remove_filter},
    {"host_file_is_unreadable", "STRICT", remove_isolation},
    {"host_directory_is_unwritable", "STRICT", remove_isolation},
    {"host_processes_are_hidden", "STRICT", remove_isolation},
    {"memory_bytes_holds", "STRICT", [](SandboxPolicy& p) { p.memory_bytes.reset(); }},
    {"nproc_holds", "STRICT", [](SandboxPolicy& p) { p.nproc.reset(); }},
    {"nproc_holds", "DEFAULT", [](SandboxPolicy& p) { p.nproc.reset(); }},
    {"nofile_holds", "STRICT", [](SandboxPolicy& p) { p.nofile.reset(); }},
    {"fsize_bytes_holds", "STRICT", [](SandboxPolicy& p) { p.fsize_bytes.reset(); }},
    {"wall_seconds_holds", "STRICT", [](SandboxPolicy& p) { p.wall_clock.reset(); }},
};

}  // namespace

TEST_CASE("under every shipped profile every probe that can tell is stopped") {
  for (const char* profile : {"OFF", "DEFAULT", "STRICT", "GO", "NODE", "JVM", "SEALED"}) {
    const ProbeReport report = report_of(sandbox(), task_for(sandbox(), policy_of(profile)));
    CHECK(report.not_run.empty());
    CHECK_FALSE(report.results.empty());
    CHECK(refusal(profile, report).empty());
    std::vector<std::string> cannot_tell;
    for (const ProbeResult& result : report.results)
      if (result.verdict != ProbeVerdict::passed) cannot_tell.push_back(result.name);
    // What this host cannot tell is named; the comparison of what works unconfined is the host's.
    for (const std::string& name : cannot_tell)
      std::printf("UNSUPPORTED probe under %s: %s\n", profile, name.c_str());
    CHECK(cannot_tell.size() < report.results.size());
  }
}

TEST_CASE("a probe gets through where its control was taken away") {
  for (const Weakening& weakening : weakenings) {
    INFO(weakening.probe << " under " << weakening.profile);
    const SandboxPolicy policy = policy_of(weakening.profile);
    SandboxPolicy weakened = policy;
    weakening.take_away(weakened);
    const ProbeVerdict whole = verdict_of(weakening.probe, policy, policy);
    if (whole == ProbeVerdict::unsupported) {
      std::printf("UNSUPPORTED probe: %s\n", weakening.probe);
      continue;
    }
    CHECK(whole == ProbeVerdict::passed);
    CHECK(verdict_of(weakening.probe, policy, weakened) == ProbeVerdict::failed);
  }
}

TEST_CASE("a probe tells a bind that can be written from one that can only be read") {
  const ScratchDirectory directory;
  ScratchDirectory::set_mode(directory.path(), 0777);
  SandboxPolicy policy = policy_of("STRICT");
  policy.bind_ro.insert(policy.bind_ro.begin(), directory.path());
  SandboxPolicy weakened = policy;
  weakened.bind_ro.erase(weakened.bind_ro.begin());
  weakened.bind_rw = {directory.path()};
  CHECK(verdict_of("bind_is_read_only", policy, policy) == ProbeVerdict::passed);
  CHECK(verdict_of("bind_is_read_only", policy, weakened) == ProbeVerdict::failed);
}

TEST_CASE("a probe tells a tmpfs of the promised size from a larger one") {
  SandboxPolicy policy = policy_of("STRICT");
  policy.tmp_bytes = 64 * 1024;
  policy.workspace_bytes = 64 * 1024;
  SandboxPolicy weakened = policy;
  weakened.tmp_bytes = 1u << 20;
  weakened.workspace_bytes = 1u << 20;
  for (const char* probe : {"tmp_bytes_holds", "workspace_bytes_holds"}) {
    CHECK(verdict_of(probe, policy, policy) == ProbeVerdict::passed);
    CHECK(verdict_of(probe, policy, weakened) == ProbeVerdict::failed);
  }
}

TEST_CASE("as a user: a probe signals a process outside where Landlock is taken away") {
  NEEDS(!is_root(), needs_user);  // a run of root's has another uid in any case
  NEEDS(sandbox().host().landlock_abi >= landlock_abi_most, no_signal_scope);
  const SandboxPolicy policy = policy_of("DEFAULT");
  SandboxPolicy weakened = policy;
  weakened.landlock.use = LandlockUse::never;
  CHECK(verdict_of("host_processes_get_no_signal", policy, policy) == ProbeVerdict::passed);
  CHECK(verdict_of("host_processes_get_no_signal", policy, weakened) == ProbeVerdict::failed);
}

TEST_CASE("what a run leaves behind is not there any more, and what nobody ends is") {
  const SandboxPolicy policy = policy_of("OFF");
  const ProbeReport report =
      report_of(sandbox(), {.policy = policy, .probes = only("nothing_outlives_the_run")});
  REQUIRE(report.results.size() == 1);
  CHECK(report.results.front().verdict == ProbeVerdict::passed);
  CHECK(report.results.front().unconfined == "done");
  CHECK(report.results.front().confined == "refused ESRCH");
}

TEST_CASE(
    "bubblewrap by itself is asked about planted links, and nothing is left of the question") {
  const auto probe_directories = [] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("/var/tmp")) {
      const std::string name = entry.path().filename();
      struct stat info {};
      if (name.starts_with("paddock-probe-") && ::stat(entry.path().c_str(), &info) == 0 &&
          info.st_uid == ::geteuid())
        names.insert(name);
    }
    return names;
  };
  const std::set<std::string> before = probe_directories();
  const auto outcome = run_probes(
      sandbox(), {{.policy = policy_of("STRICT"), .probes = only("planted_link_is_refused")}});
  REQUIRE(outcome);
  CHECK(outcome->bubblewrap_follows_links.has_value());
  REQUIRE(outcome->reports.front().results.size() == 1);
  CHECK(outcome->reports.front().results.front().confined == "refused EPERM");
  // Other tests ask beside this one: what they have made is gone soon.
  std::set<std::string> left;
  for (int look = 0; look < 1000; ++look) {
    left.clear();
    for (const std::string& name : probe_directories())
      if (!before.contains(name)) left.insert(name);
    if (left.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(left == std::set<std::string>{});
}

TEST_CASE("a run that cannot be had is not taken for one that was probed") {
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.workdir = "/nowhere";
  const ProbeReport report = report_of(sandbox(), task_for(sandbox(), policy));
  CHECK(report.results.empty());
  CHECK(report.not_run.find("cannot_execute") != std::string::npos);
  CHECK(refusal("DEFAULT", report).find("could not be probed") != std::string::npos);
}

TEST_CASE("the limits of a cgroup are probed where there are controllers", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  const auto host = Sandbox::open({.cgroup_base = base.path()});
  REQUIRE(host);
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    const SandboxPolicy policy = policy_of(profile);
    const ProbeReport report = report_of(*host, task_for(*host, policy));
    const auto verdict = [&](std::string_view name) {
      const auto found =
          std::find_if(report.results.begin(), report.results.end(),
                       [&](const ProbeResult& result) { return result.name == name; });
      REQUIRE(found != report.results.end());
      return found->verdict;
    };
    CHECK(verdict("memory_max_holds") == ProbeVerdict::passed);
    CHECK(verdict("pids_max_holds") == ProbeVerdict::passed);
    SandboxPolicy weakened = policy;
    weakened.cgroup.memory_max.reset();
    weakened.cgroup.pids_max.reset();
    for (const char* name : {"memory_max_holds", "pids_max_holds"}) {
      const ProbeReport failed =
          report_of(*host, {.policy = policy, .probes = only(name), .weakened = weakened});
      REQUIRE(failed.results.size() == 1);
      CHECK(failed.results.front().verdict == ProbeVerdict::failed);
    }
  }
}
