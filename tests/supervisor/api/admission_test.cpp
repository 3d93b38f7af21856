#include "supervisor/api/admission.hpp"

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::ErrorCode;

namespace {

kernel::Catalog catalog() {
  kernel::Profile standard;
  standard.name = "DEFAULT";
  standard.limits.nofile = 100;
  standard.wall_clock = std::chrono::seconds(10);
  standard.allow_environment = {"TZ"};
  kernel::Profile needy = standard;
  needy.name = "NEEDY";
  needy.cgroup.use = kernel::CgroupUse::required;
  needy.cgroup.pids_max = 5;
  kernel::AgentTemplate agent;
  agent.name = "lister";
  agent.profile = "NEEDY";
  agent.command = {"ls", "-l"};
  kernel::AgentTemplate simple = agent;
  simple.name = "simple";
  simple.profile = "DEFAULT";
  return {.profiles = {{"DEFAULT", standard}, {"NEEDY", needy}},
          .agents = {{"lister", agent}, {"simple", simple}}};
}

kernel::Result<ResolvedRun> admitted(const kernel::Request& request,
                                     const kernel::Refusals& refusals = {},
                                     const Caller& caller = operator_caller()) {
  const auto sandbox = kernel::Sandbox::open({});
  REQUIRE(sandbox);
  return admit(request, caller, catalog(), *sandbox, refusals);
}

kernel::Result<ResolvedRun> admitted(const kernel::Request& request, const Caller& caller) {
  return admitted(request, {}, caller);
}

kernel::Request request_for(const std::string& profile) {
  kernel::Request request;
  request.profile = profile;
  request.argv = {"true"};
  return request;
}

}  // namespace

TEST_CASE("a request without profile and agent runs under DEFAULT") {
  const auto run = admitted(request_for(""));
  REQUIRE(run);
  CHECK(run->policy.profile == "DEFAULT");
  CHECK(run->policy.nofile == 100);
  CHECK(run->argv == std::vector<std::string>{"true"});
}

TEST_CASE("what is admitted carries all that the run needs") {
  kernel::Request request = request_for("DEFAULT");
  request.agent = "simple";
  request.argv = {"/tmp"};
  request.tenant = "team-a";
  request.cwd = "/usr";
  request.stdin_bytes = "input";
  request.nofile = 50;
  const auto run = admitted(request);
  REQUIRE(run);
  CHECK(run->argv == std::vector<std::string>{"ls", "-l", "/tmp"});
  CHECK(run->agent == "simple");
  CHECK(run->tenant == "team-a");
  CHECK(run->cwd == "/usr");
  CHECK(run->stdin_bytes == "input");
  CHECK(run->policy.nofile == 50);
}

TEST_CASE("unknown names are refused with those that there are, or with the one that was meant") {
  const auto profile = admitted(request_for("NONE"));
  REQUIRE_FALSE(profile);
  CHECK(profile.error().code == ErrorCode::unknown_profile);
  CHECK(profile.error().message == "unknown profile 'NONE'; known are 'DEFAULT', 'NEEDY'");
  kernel::Request request;
  request.agent = "none";
  const auto agent = admitted(request);
  REQUIRE_FALSE(agent);
  CHECK(agent.error().code == ErrorCode::unknown_agent);
  CHECK(agent.error().message == "unknown agent 'none'; known are 'lister', 'simple'");
  CHECK(admitted(request_for("DEFUALT")).error().message ==
        "unknown profile 'DEFUALT'; did you mean 'DEFAULT'?");
}

TEST_CASE("an agent's profile cannot be chosen, and a limit not be loosened") {
  kernel::Request request = request_for("NEEDY");
  request.agent = "simple";
  const auto other = admitted(request);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::sandbox_policy_error);
  kernel::Request loose = request_for("DEFAULT");
  loose.nofile = 101;
  const auto looser = admitted(loose);
  REQUIRE_FALSE(looser);
  CHECK(looser.error().code == ErrorCode::sandbox_policy_error);
  CHECK(looser.error().message.find("nofile") != std::string::npos);
}

TEST_CASE("what the host cannot give is refused before it waits in a queue") {
  kernel::Request request = request_for("NEEDY");
  const auto refused = admitted(request);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::sandbox_not_available);
  request.allow_degraded = true;
  CHECK(admitted(request));
}

TEST_CASE("a profile that a probe got through is refused, whatever the request allows") {
  const kernel::Refusals refusals = {{"NEEDY", "by its probe 'pids_max_holds'"}};
  CHECK(admitted(request_for("DEFAULT"), refusals));
  kernel::Request request = request_for("NEEDY");
  request.allow_degraded = true;
  CHECK(admitted(request));
  for (const bool allow_degraded : {false, true}) {
    request.allow_degraded = allow_degraded;
    const auto refused = admitted(request, refusals);
    REQUIRE_FALSE(refused);
    CHECK(refused.error() ==
          kernel::Error{ErrorCode::sandbox_not_available, "by its probe 'pids_max_holds'"});
  }
  kernel::Request by_agent;
  by_agent.agent = "lister";
  by_agent.allow_degraded = true;
  CHECK_FALSE(admitted(by_agent, refusals));
}

TEST_CASE("a run is its caller's, and only who sees another tenant runs in its name") {
  Caller caller;
  caller.tenant = "research";
  kernel::Request request = request_for("DEFAULT");
  CHECK(admitted(request, caller)->tenant == "research");
  CHECK(admitted(request)->tenant.empty());
  request.tenant = "research";
  CHECK(admitted(request, caller)->tenant == "research");
  request.tenant = "other";
  const auto refused = admitted(request, caller);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        kernel::Error{ErrorCode::forbidden, "tenant 'research' may not ask for tenant 'other'"});
  caller.sees_all = true;
  CHECK(admitted(request, caller)->tenant == "other");
}

TEST_CASE("a profile outside the caller's list is refused by name, also an agent's") {
  Caller caller;
  caller.tenant = "research";
  caller.sees_all = true;
  caller.profiles = std::set<std::string>{"NEEDY"};
  const kernel::Error expected{ErrorCode::forbidden,
                               "tenant 'research' may not use profile 'DEFAULT'"};
  kernel::Request by_agent;
  by_agent.agent = "simple";
  for (const kernel::Request& request : {request_for("DEFAULT"), request_for(""), by_agent}) {
    const auto refused = admitted(request, caller);
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == expected);
  }
  kernel::Request allowed = request_for("NEEDY");
  allowed.allow_degraded = true;
  CHECK(admitted(allowed, caller));
}
