#include "kernel/run/plan.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "kernel/base/fd.hpp"
#include "kernel/policy/load.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/plan_text.hpp"
#include "support/sample_host.hpp"

using namespace paddock::kernel;

namespace {

using Words = std::vector<std::string>;

const std::string name = "r-0123456789abcdef";
const RunIdentity of_user{
    .name = name, .host_uid = std::nullopt, .workspace = "/tmp/paddock-abc", .cwd = ""};
const RunIdentity of_root{
    .name = name, .host_uid = 60'600, .workspace = "/tmp/paddock-abc", .cwd = ""};

// A shipped profile, resolved for a request that adds nothing.
SandboxPolicy shipped_policy(const std::string& file) {
  const std::string path = std::string(PADDOCK_PROFILES) + "/" + file;
  std::vector<Diagnostic> mistakes;
  const auto profile = parse_profile(read_file(path, 1u << 20).value(), path, mistakes);
  REQUIRE(mistakes.empty());
  Request request;
  request.profile = profile->name;
  request.argv = {"python3", "agent.py"};
  return resolve(*profile, request).value();
}

Plan plan_of(const SandboxPolicy& policy, const RunIdentity& identity = of_user) {
  auto plan = make_plan(policy, {"python3", "agent.py"}, merged_host(), identity);
  REQUIRE(plan);
  CHECK(plan->policy_hash == policy_hash(policy));
  return *plan;
}

SandboxPolicy bubblewrap_policy() {
  SandboxPolicy policy;
  policy.profile = "MINE";
  policy.use_bubblewrap = true;
  return policy;
}

Error refusal(const SandboxPolicy& policy, const HostFacts& host, const Words& argv = {"true"}) {
  const auto plan = make_plan(policy, argv, host, of_user);
  REQUIRE_FALSE(plan);
  return plan.error();
}

}  // namespace

TEST_CASE("each shipped profile gives exactly the plan of its golden file") {
  check_golden("off.plan", plan_text(plan_of(shipped_policy("off.toml"))));
  check_golden("default.plan", plan_text(plan_of(shipped_policy("default.toml"))));
  check_golden("strict.plan", plan_text(plan_of(shipped_policy("strict.toml"))));
  check_golden("node.plan", plan_text(plan_of(shipped_policy("node.toml"))));
  check_golden("jvm.plan", plan_text(plan_of(shipped_policy("jvm.toml"))));
}

TEST_CASE("started as root, a run has a host uid of its own and is otherwise the same") {
  for (const char* file : {"off.toml", "default.toml", "strict.toml"}) {
    Plan plan = plan_of(shipped_policy(file), of_root);
    CHECK(plan.launch.host_uid == 60'600);
    plan.launch.host_uid.reset();
    CHECK(plan == plan_of(shipped_policy(file)));
  }
}

TEST_CASE("the same input gives the same plan") {
  CHECK(plan_of(shipped_policy("strict.toml")) == plan_of(shipped_policy("strict.toml")));
}

TEST_CASE("a run without bubblewrap starts in workdir, else where it was called, else its own") {
  SandboxPolicy policy;
  RunIdentity identity = of_user;
  CHECK(plan_of(policy, identity).launch.workdir == "/tmp/paddock-abc");
  identity.cwd = "/srv/project";
  CHECK(plan_of(policy, identity).launch.workdir == "/srv/project");
  policy.workdir = "/opt";
  CHECK(plan_of(policy, identity).launch.workdir == "/opt");
  const Words environment = plan_of(policy, identity).launch.environment;
  CHECK(std::count(environment.begin(), environment.end(), "HOME=/tmp/paddock-abc") == 1);
}

TEST_CASE("a run under bubblewrap starts in its workspace, wherever the caller is") {
  RunIdentity identity = of_user;
  identity.cwd = "/srv/project";
  SandboxPolicy policy = bubblewrap_policy();
  CHECK(plan_of(policy, identity).launch.workdir == "/workspace");
  policy.workdir = "/tmp";
  CHECK(plan_of(policy, identity).launch.workdir == "/tmp");
}

TEST_CASE("what the policy sets in the environment wins, and nothing else is there") {
  SandboxPolicy policy = bubblewrap_policy();
  policy.environment = {{"HOME", "/tmp"}, {"TOKEN", "a=b"}};
  CHECK(plan_of(policy).launch.environment ==
        Words{"HOME=/tmp", "LANG=C.UTF-8", "LOGNAME=agent",
              "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "SHELL=/bin/sh",
              "TOKEN=a=b", "USER=agent"});
}

TEST_CASE("a user namespace is made for NPROC alone, and only where bubblewrap makes none") {
  SandboxPolicy policy;
  CHECK_FALSE(plan_of(policy).launch.own_user_namespace);
  CHECK(plan_of(policy).new_namespaces.empty());
  policy.nproc = 10;
  CHECK(plan_of(policy).launch.own_user_namespace);
  CHECK(plan_of(policy).new_namespaces == Words{"user"});
  policy.use_bubblewrap = true;
  CHECK_FALSE(plan_of(policy).launch.own_user_namespace);
  CHECK(plan_of(policy).new_namespaces == Words{"cgroup", "ipc", "mnt", "pid", "user", "uts"});
  policy.deny_network = true;
  CHECK(plan_of(policy).new_namespaces ==
        Words{"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"});
}

TEST_CASE("a limit that is absent is not set, and core dumps are always limited") {
  SandboxPolicy policy;
  // Not 0, which is no limit for a core_pattern that is a pipe.
  CHECK(plan_of(policy).launch.rlimits == std::vector<Rlimit>{{RLIMIT_CORE, 1}});
  policy.core_size = 4096;
  CHECK(plan_of(policy).launch.rlimits == std::vector<Rlimit>{{RLIMIT_CORE, 4096}});
}

TEST_CASE("bubblewrap that the policy wants and the host has not is a refusal with the reason") {
  HostFacts host = merged_host();
  host.bubblewrap.clear();
  host.bubblewrap_problem = "bubblewrap is not installed; install the package 'bubblewrap'";
  CHECK(refusal(bubblewrap_policy(), host) ==
        Error{ErrorCode::sandbox_not_available,
              "profile 'MINE' requires bubblewrap: bubblewrap is not installed; install the "
              "package 'bubblewrap'"});
  SandboxPolicy without;
  CHECK(make_plan(without, {"true"}, host, of_user));
}

TEST_CASE("user namespaces that the policy needs and the host refuses are a refusal") {
  HostFacts host = merged_host();
  host.user_namespaces = false;
  host.user_namespaces_problem = "user namespaces are not available (Operation not permitted)";
  SandboxPolicy with_nproc;
  with_nproc.profile = "MINE";
  with_nproc.nproc = 10;
  for (const SandboxPolicy& policy : {bubblewrap_policy(), with_nproc}) {
    CHECK(refusal(policy, host) ==
          Error{ErrorCode::sandbox_not_available,
                "profile 'MINE' requires a user namespace: user namespaces are not available "
                "(Operation not permitted)"});
  }
  SandboxPolicy neither;
  CHECK(make_plan(neither, {"true"}, host, of_user));
}

TEST_CASE("deny_network without bubblewrap is refused, never ignored") {
  SandboxPolicy policy;
  policy.deny_network = true;
  CHECK(refusal(policy, merged_host()) ==
        Error{ErrorCode::sandbox_policy_error, "deny_network requires use_bubblewrap"});
}

TEST_CASE("an empty argv is nothing to run") {
  for (const Words& argv : {Words{}, Words{""}, Words{"", "x"}})
    CHECK(refusal(SandboxPolicy{}, merged_host(), argv).code == ErrorCode::invalid_request);
}

TEST_CASE("a workspace that stays is in the plan: bound under bubblewrap, HOME and start without") {
  SandboxPolicy policy = bubblewrap_policy();
  policy.workspace = "/srv/a";
  const Plan confined = plan_of(policy);
  CHECK(confined.workspace == "/srv/a");
  CHECK(confined.launch.workdir == "/workspace");
  CHECK(confined.policy_hash != plan_of(bubblewrap_policy()).policy_hash);

  policy.use_bubblewrap = false;
  const Plan bare = plan_of(policy, {.host_uid = std::nullopt, .workspace = "/srv/a", .cwd = ""});
  CHECK(bare.workspace.empty());  // nothing is bound
  CHECK(bare.launch.workdir == "/srv/a");
  CHECK(std::count(bare.launch.environment.begin(), bare.launch.environment.end(), "HOME=/srv/a") ==
        1);
}
