#include "kernel/policy/policy.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;
using namespace std::chrono_literals;

namespace {

Profile strict_profile() {
  Profile profile;
  profile.name = "STRICT";
  profile.limits.cpu_seconds = 120;
  profile.limits.memory_bytes = 512u << 20;
  profile.limits.nproc = 16;
  profile.wall_clock = 300s;
  profile.use_bubblewrap = true;
  profile.deny_network = true;
  profile.bind_ro = {"/usr"};
  profile.allow_environment = {"LANG", "TZ"};
  profile.environment = {{"TZ", "UTC"}, {"A", "profile"}};
  return profile;
}

Profile open_profile() {
  Profile profile;
  profile.name = "OFF";
  return profile;
}

AgentTemplate small_agent() {
  AgentTemplate agent;
  agent.name = "python";
  agent.profile = "STRICT";
  agent.command = {"python3", "-I"};
  return agent;
}

std::string refusal(const Profile& profile, const Request& request,
                    const AgentTemplate* agent = nullptr) {
  const auto policy = resolve(profile, request, agent);
  REQUIRE_FALSE(policy);
  CHECK(policy.error().code == ErrorCode::sandbox_policy_error);
  return policy.error().message;
}

}  // namespace

TEST_CASE("a request that asks for nothing gets what the profile says") {
  const Profile profile = strict_profile();
  const auto policy = resolve(profile, {});
  REQUIRE(policy);
  SandboxPolicy expected;
  expected.profile = "STRICT";
  expected.cpu_seconds = 120;
  expected.memory_bytes = 512u << 20;
  expected.nproc = 16;
  expected.wall_clock = 300s;
  expected.use_bubblewrap = true;
  expected.deny_network = true;
  expected.bind_ro = {"/usr"};
  expected.environment = {{"TZ", "UTC"}, {"A", "profile"}};
  CHECK(*policy == expected);
}

TEST_CASE("every field of a profile reaches the policy") {
  Profile profile = strict_profile();
  profile.limits = {1, 2, 3, 4, 5, 6};
  profile.grace = 7ms;
  profile.output_bytes = 8;
  profile.output_stop_bytes = 13;
  profile.cgroup = {CgroupUse::required, 9, 10, 0.5};
  profile.bind_rw = {"/srv"};
  profile.workdir = "/srv";
  profile.tmp_bytes = 11;
  profile.workspace_bytes = 12;
  profile.new_session = false;
  const auto policy = resolve(profile, {});
  REQUIRE(policy);
  CHECK(policy->cpu_seconds == 1);
  CHECK(policy->memory_bytes == 2);
  CHECK(policy->fsize_bytes == 3);
  CHECK(policy->nproc == 4);
  CHECK(policy->nofile == 5);
  CHECK(policy->core_size == 6);
  CHECK(policy->grace == 7ms);
  CHECK(policy->output_bytes == 8);
  CHECK(policy->output_stop_bytes == 13);
  CHECK(policy->cgroup == profile.cgroup);
  CHECK(policy->bind_rw == profile.bind_rw);
  CHECK(policy->workdir == "/srv");
  CHECK(policy->tmp_bytes == 11);
  CHECK(policy->workspace_bytes == 12);
  CHECK_FALSE(policy->new_session);
}

TEST_CASE("a request may tighten each limit") {
  Request request;
  request.wall_clock = 10s;
  request.cpu_seconds = 5;
  request.memory_bytes = 1u << 20;
  request.fsize_bytes = 4096;
  request.nproc = 2;
  request.nofile = 3;
  request.output_bytes = 100;
  request.output_stop_bytes = 101;
  const auto policy = resolve(strict_profile(), request);
  REQUIRE(policy);
  CHECK(policy->wall_clock == 10s);
  CHECK(policy->cpu_seconds == 5);
  CHECK(policy->memory_bytes == 1u << 20);
  CHECK(policy->fsize_bytes == 4096);  // the profile has no limit there: the request sets one
  CHECK(policy->nproc == 2);
  CHECK(policy->nofile == 3);
  CHECK(policy->output_bytes == 100);
  CHECK(policy->output_stop_bytes == 101);
}

TEST_CASE("a limit may be asked for as it is") {
  Request request;
  request.wall_clock = 300s;
  request.nproc = 16;
  CHECK(resolve(strict_profile(), request));
}

TEST_CASE("a limit above the profile's is refused, with both values") {
  Request request;
  request.wall_clock = 900s;
  CHECK(refusal(strict_profile(), request) ==
        "request.wall_seconds 900s is above the 300s that profile 'STRICT' allows");
  request = {};
  request.memory_bytes = 1u << 30;
  CHECK(refusal(strict_profile(), request) ==
        "request.memory_bytes 1GiB is above the 512MiB that profile 'STRICT' allows");
  request = {};
  request.nproc = 17;
  CHECK(refusal(strict_profile(), request) ==
        "request.nproc 17 is above the 16 that profile 'STRICT' allows");
  request = {};
  request.output_bytes = 11u << 20;
  CHECK(refusal(strict_profile(), request) ==
        "request.output_bytes 11MiB is above the 10MiB that profile 'STRICT' allows");
  request = {};
  request.cpu_seconds = 0;
  CHECK(refusal(strict_profile(), request) == "request.cpu_seconds must be at least 1");
}

TEST_CASE("the environment is the profile's, then the agent's, then the request's") {
  AgentTemplate agent = small_agent();
  agent.environment = {{"A", "agent"}, {"LANG", "C"}};
  Request request;
  request.environment = {{"LANG", "de_DE.UTF-8"}};
  const auto policy = resolve(strict_profile(), request, &agent);
  REQUIRE(policy);
  CHECK(policy->environment ==
        std::map<std::string, std::string>{{"A", "agent"}, {"LANG", "de_DE.UTF-8"}, {"TZ", "UTC"}});
}

TEST_CASE("a request sets only variables that the profile allows") {
  Request request;
  request.environment = {{"A", "b"}};  // set by the profile, but not for requests to change
  CHECK(refusal(strict_profile(), request) ==
        "request.environment names 'A'; profile 'STRICT' allows 'LANG', 'TZ'");
  CHECK(refusal(open_profile(), request) ==
        "request.environment names 'A'; profile 'OFF' allows no variables");
}

TEST_CASE("a loader-hijack variable is refused even where a profile lists it") {
  Profile profile = strict_profile();
  profile.allow_environment = {"LD_PRELOAD"};
  Request request;
  request.environment = {{"LD_PRELOAD", "/x.so"}};
  CHECK(refusal(profile, request).find("request.environment names 'LD_PRELOAD', by which") == 0);
}

TEST_CASE("a request binds only at or below what the profile grants") {
  Profile profile = strict_profile();
  profile.requests.bind_ro = {"/srv/data"};
  profile.requests.bind_rw = {"/srv/jobs"};
  Request request;
  request.bind_ro = {"/srv/data", "/srv/data/a", "/srv/jobs/readable"};
  request.bind_rw = {"/srv/jobs/a"};
  const auto policy = resolve(profile, request);
  REQUIRE(policy);
  CHECK(policy->bind_ro ==
        std::vector<std::string>{"/usr", "/srv/data", "/srv/data/a", "/srv/jobs/readable"});
  CHECK(policy->bind_rw == std::vector<std::string>{"/srv/jobs/a"});

  request = {};
  request.bind_rw = {"/srv/data/a"};
  CHECK(refusal(profile, request) ==
        "request.bind_rw '/srv/data/a' is not below a path that profile 'STRICT' grants "
        "(it grants '/srv/jobs')");
  request = {};
  request.bind_ro = {"/srv/database"};
  CHECK(refusal(profile, request).find("request.bind_ro '/srv/database' is not below") == 0);
  request.bind_ro = {"/srv/data/../other"};
  CHECK(refusal(profile, request) == "request.bind_ro '/srv/data/../other' contains '..'");
  request.bind_ro = {"/srv/data//a"};
  CHECK_FALSE(resolve(profile, request));
  request.bind_ro = {"/etc"};
  CHECK(refusal(strict_profile(), request) ==
        "request.bind_ro '/etc' is not below a path that profile 'STRICT' grants (it grants none)");
}

TEST_CASE("a grant of '/' is a grant of every path") {
  Profile profile = strict_profile();
  profile.requests.bind_ro = {"/"};
  Request request;
  request.bind_ro = {"/srv"};
  CHECK(resolve(profile, request));
}

TEST_CASE("what needs a sandbox is refused without one, not ignored") {
  Profile profile = open_profile();
  profile.requests.bind_ro = {"/srv"};
  Request request;
  request.bind_ro = {"/srv"};
  CHECK(refusal(profile, request) ==
        "request.bind_ro needs a profile that uses bubblewrap, and 'OFF' does not");
  request = {};
  request.cwd = "/srv";
  CHECK(resolve(profile, request));
  // A client says where it is without knowing the profile; under bubblewrap it has no meaning.
  CHECK(resolve(strict_profile(), request));
}

TEST_CASE("the network is opened only by a request that asks and a profile that grants") {
  Profile profile = strict_profile();
  Request request;
  request.network = true;
  CHECK(refusal(profile, request) ==
        "request.network asks for the host's network, which profile 'STRICT' does not grant");
  profile.requests.network = true;
  CHECK_FALSE(resolve(profile, request)->deny_network);
  CHECK(resolve(profile, {})->deny_network);
  CHECK_FALSE(resolve(open_profile(), request)->deny_network);
}

TEST_CASE("an agent runs under its own profile, whatever the request names") {
  const AgentTemplate agent = small_agent();
  CHECK(resolve(strict_profile(), {}, &agent));
  CHECK(refusal(open_profile(), {}, &agent) ==
        "agent 'python' runs under profile 'STRICT', not 'OFF'");
}

TEST_CASE("the working directory is the request's, else the agent's, else the profile's") {
  Profile profile = strict_profile();
  profile.workdir = "/tmp";
  CHECK(resolve(profile, {})->workdir == "/tmp");
  AgentTemplate agent = small_agent();
  CHECK(resolve(profile, {}, &agent)->workdir == "/tmp");
  agent.workdir = "/workspace/a";
  CHECK(resolve(profile, {}, &agent)->workdir == "/workspace/a");
  Request request;
  request.workdir = "/workspace/r";
  CHECK(resolve(profile, request, &agent)->workdir == "/workspace/r");
}

TEST_CASE("allow_degraded is the request's own word") {
  CHECK_FALSE(resolve(strict_profile(), {})->allow_degraded);
  Request request;
  request.allow_degraded = true;
  CHECK(resolve(strict_profile(), request)->allow_degraded);
}

TEST_CASE("the profile that counts is the request's, else its agent's, else DEFAULT") {
  CHECK(profile_name_of("OFF", "STRICT") == "OFF");
  CHECK(profile_name_of("", "STRICT") == "STRICT");
  CHECK(profile_name_of("", "") == "DEFAULT");
}

TEST_CASE("a command is the agent's with the request's arguments behind it") {
  Request request;
  request.argv = {"a", "b"};
  CHECK(command_of(request, nullptr) == request.argv);
  const AgentTemplate agent = small_agent();
  CHECK(command_of(request, &agent) == std::vector<std::string>{"python3", "-I", "a", "b"});
}
