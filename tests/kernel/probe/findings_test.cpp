#include "kernel/probe/findings.hpp"

#include <algorithm>

#include "support/catch.hpp"
#include "support/sample_host.hpp"
#include "support/text.hpp"

using namespace paddock::kernel;

namespace {

using Names = std::vector<std::string>;

// A host with everything, as an ordinary user.
struct Host {
  HostReadings readings = [] {
    HostReadings good;
    good.max_user_namespaces = 1000;
    good.ptrace_scope = 1;
    good.core_pattern = "core";
    good.bubblewrap = {{"/usr/bin/bwrap", 0, false}, {"/usr/bin", 0, false}, {"/", 0, false}};
    return good;
  }();
  HostFacts facts = [] {
    HostFacts good = merged_host();
    good.landlock_abi = 7;
    return good;
  }();
  CgroupSearch cgroup = [] {
    CgroupSearch good;
    good.base = CgroupBase{"/c", {"memory", "pids", "cpu"}};
    return good;
  }();

  std::vector<Finding> findings(const std::vector<SandboxPolicy>& policies) const {
    return find_gaps(readings, facts, cgroup, policies);
  }
};

SandboxPolicy limits_only() {
  SandboxPolicy policy;
  policy.profile = "LIMITS";
  policy.nproc = 10;
  policy.cgroup.memory_max = 1;
  policy.seccomp = SeccompUse::default_list;
  policy.landlock = {.use = LandlockUse::if_supported, .abi = 2};
  return policy;
}

SandboxPolicy isolated() {
  SandboxPolicy policy = limits_only();
  policy.profile = "ISOLATED";
  policy.use_bubblewrap = true;
  return policy;
}

SandboxPolicy sealed() {
  SandboxPolicy policy = isolated();
  policy.profile = "SEALED";
  policy.cgroup.use = CgroupUse::required;
  policy.landlock = {.use = LandlockUse::required, .abi = 1};
  policy.own_host_uid = true;
  return policy;
}

SandboxPolicy nothing() {
  SandboxPolicy policy;
  policy.profile = "NOTHING";
  policy.new_session = false;
  return policy;
}

// The one finding of `host`, which must have this name.
Finding only(const Host& host, const std::vector<SandboxPolicy>& policies,
             const std::string& name) {
  const std::vector<Finding> findings = host.findings(policies);
  for (const Finding& finding : findings) UNSCOPED_INFO(finding.name << ": " << finding.cause);
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().name == name);
  CHECK_FALSE(findings.front().cause.empty());
  CHECK_FALSE(findings.front().fix.empty());
  return findings.front();
}

}  // namespace

TEST_CASE("a host that has everything has no gap") {
  CHECK(Host{}.findings({limits_only(), isolated(), nothing()}).empty());
}

TEST_CASE("user namespaces that are refused name the knob and the command that turns it") {
  const auto refused = [](void (*turn)(HostReadings & readings)) {
    Host host;
    host.facts.user_namespaces = false;
    host.facts.user_namespaces_problem = "EPERM";
    turn(host.readings);
    const Finding finding =
        only(host, {limits_only(), isolated(), nothing()}, "user_namespaces_refused");
    CHECK(finding.severity == Severity::blocks);
    CHECK(finding.profiles == Names{"LIMITS", "ISOLATED"});
    return finding;
  };
  CHECK(contains(refused([](HostReadings& r) { r.max_user_namespaces = 0; }).fix,
                 "sysctl -w user.max_user_namespaces=63000"));
  CHECK(contains(refused([](HostReadings& r) { r.unprivileged_userns_clone = 0; }).fix,
                 "sysctl -w kernel.unprivileged_userns_clone=1"));
  CHECK(contains(refused([](HostReadings& r) { r.apparmor_restricts_userns = 1; }).fix,
                 "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"));
  CHECK(contains(refused([](HostReadings& r) { r.filtered = true; }).fix, "seccomp"));
  CHECK(refused([](HostReadings&) {}).cause == "EPERM");
}

TEST_CASE("AppArmor's restriction is a note where a namespace can be made all the same") {
  Host host;
  host.readings.apparmor_restricts_userns = 1;
  CHECK(only(host, {isolated()}, "apparmor_restricts_user_namespaces").severity == Severity::note);
}

TEST_CASE("a bubblewrap that cannot be used blocks who needs it, with the reason found") {
  Host host;
  host.facts.bubblewrap = "";
  host.facts.bubblewrap_problem = "it is setuid root";
  host.readings.bubblewrap = {};
  const Finding finding = only(host, {limits_only(), isolated()}, "bubblewrap_unusable");
  CHECK(finding.severity == Severity::blocks);
  CHECK(finding.profiles == Names{"ISOLATED"});
  CHECK(finding.cause == "it is setuid root");
}

TEST_CASE("a bubblewrap that others than root can replace is found, by file or directory") {
  Host owned;
  owned.readings.bubblewrap = {{"/usr/bin/bwrap", 1000, false}, {"/usr/bin", 0, false}};
  CHECK(contains(only(owned, {isolated()}, "bubblewrap_not_trusted").cause, "uid 1000"));
  Host writable;
  writable.readings.bubblewrap = {{"/usr/bin/bwrap", 0, false}, {"/usr/bin", 0, true}};
  const Finding finding = only(writable, {isolated()}, "bubblewrap_not_trusted");
  CHECK(contains(finding.cause, "'/usr/bin'"));
  CHECK(contains(finding.fix, "chmod go-w /usr/bin"));
  CHECK(writable.findings({limits_only()}).empty());
}

TEST_CASE("bubblewrap's own weakness is a note, where the probe has seen it") {
  Host host;
  host.readings.bubblewrap_follows_links = true;
  CHECK(only(host, {isolated()}, "bubblewrap_follows_planted_links").severity == Severity::note);
  host.readings.bubblewrap_follows_links = false;
  CHECK(host.findings({isolated()}).empty());
}

TEST_CASE("controllers that are not delegated weaken or block, by what a profile requires") {
  Host host;
  host.cgroup.base.reset();
  host.cgroup.problem = "cgroup '/x' is not delegated";
  const Finding weak = only(host, {limits_only(), nothing()}, "cgroup_not_delegated");
  CHECK(weak.severity == Severity::weakens);
  CHECK(weak.profiles == Names{"LIMITS"});
  CHECK(weak.cause == "cgroup '/x' is not delegated");
  CHECK(contains(weak.fix, "Delegate=yes"));
  host.facts.uid = 0;
  // Each profile is named under what it means for it.
  const auto findings = host.findings({limits_only(), sealed()});
  const auto has = [&](Severity severity, const Names& profiles) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.name == "cgroup_not_delegated" && finding.severity == severity &&
             finding.profiles == profiles;
    });
  };
  CHECK(has(Severity::blocks, {"SEALED"}));
  CHECK(has(Severity::weakens, {"LIMITS"}));
}

TEST_CASE("swap that no cgroup counts is a gap only where there is swap") {
  Host host;
  host.cgroup.base->absent_knobs = {"memory.swap.max"};
  CHECK(host.findings({limits_only()}).empty());
  host.readings.swap = true;
  CHECK(only(host, {limits_only(), nothing()}, "swap_is_not_accounted").profiles ==
        Names{"LIMITS"});
}

TEST_CASE("Landlock that is absent or old is told apart, and a required one blocks") {
  Host absent;
  absent.facts.landlock_abi = 0;
  CHECK(only(absent, {isolated(), nothing()}, "landlock_absent").severity == Severity::weakens);
  absent.facts.uid = 0;
  CHECK(absent.findings({sealed()}).front().severity == Severity::blocks);
  Host old;
  old.facts.landlock_abi = 1;
  CHECK(only(old, {isolated()}, "landlock_is_old").profiles == Names{"ISOLATED"});
  Host unscoped;
  unscoped.facts.landlock_abi = 5;
  CHECK(only(unscoped, {limits_only(), isolated()}, "signals_are_not_scoped").profiles ==
        Names{"LIMITS"});
}

TEST_CASE("a kernel without filters, or too old, blocks") {
  Host unfiltered;
  unfiltered.facts.seccomp = false;
  CHECK(only(unfiltered, {limits_only(), nothing()}, "seccomp_absent").severity ==
        Severity::blocks);
  for (const char* release : {"4.19.0", "5.13.9-generic"}) {
    Host old;
    old.facts.kernel_release = release;
    CHECK(only(old, {limits_only()}, "kernel_is_old").severity == Severity::blocks);
  }
  for (const char* release : {"5.14.0", "6.1.0-18-amd64", "7.0"}) {
    Host recent;
    recent.facts.kernel_release = release;
    CHECK(recent.findings({limits_only()}).empty());
  }
}

TEST_CASE("root is noted, and who is not root cannot seal") {
  Host root;
  root.facts.uid = 0;
  CHECK(only(root, {sealed()}, "runs_as_root").severity == Severity::note);
  const Finding finding = only(Host{}, {sealed(), isolated()}, "not_root");
  CHECK(finding.severity == Severity::blocks);
  CHECK(finding.profiles == Names{"SEALED"});
}

TEST_CASE("a core_pattern that is a pipe weakens profiles that let programs dump core") {
  Host host;
  host.readings.core_pattern = "|/usr/share/apport/apport -p%p";
  CHECK(only(host, {isolated()}, "core_pattern_is_a_pipe").severity == Severity::note);
  SandboxPolicy dumping = isolated();
  dumping.core_size = 1u << 20;
  const Finding finding = only(host, {dumping}, "core_pattern_is_a_pipe");
  CHECK(finding.severity == Severity::weakens);
  CHECK(finding.profiles == Names{"ISOLATED"});
}

TEST_CASE("without Yama and Landlock an agent of one's own uid can trace") {
  Host host;
  host.readings.ptrace_scope.reset();
  CHECK(host.findings({limits_only(), isolated()}).empty());  // Landlock does it
  CHECK(only(host, {nothing()}, "tracing_is_not_restricted").profiles == Names{"NOTHING"});
  host.readings.ptrace_scope = 1;
  CHECK(host.findings({nothing()}).empty());
}

TEST_CASE("hidepid and the old terminal call are found") {
  Host hidden;
  hidden.readings.hidepid = true;
  CHECK(only(hidden, {isolated(), nothing()}, "proc_is_hidden").profiles == Names{"ISOLATED"});
  Host terminal;
  terminal.readings.legacy_tiocsti = 1;
  CHECK(only(terminal, {isolated(), nothing()}, "terminal_input_can_be_forged").profiles ==
        Names{"NOTHING"});
}
