// From options to a request, and from a request to the API's JSON.

#include "supervisor/cli/request.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "kernel/policy/policy.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::supervisor::cli;

TEST_CASE("the JSON of a request is what the daemon reads as the same request") {
  kernel::Request request;
  request.profile = "STRICT";
  request.argv = {"sh", "-c", "echo \"\\ü\""};
  request.environment = {{"TZ", "UTC"}};
  request.tenant = "team";
  request.wall_clock = std::chrono::milliseconds(1500);
  request.cpu_seconds = 3;
  request.memory_bytes = 256u << 20;
  request.nproc = 8;
  request.bind_ro = {"/srv/a"};
  request.bind_rw = {"/srv/b"};
  request.network = true;
  request.workdir = "/srv/b";
  request.allow_degraded = true;
  const RunRequest run{.request = request, .detach = false, .stream = true, .stdin_open = true};
  const auto json = request_to_json(run);
  REQUIRE(json);
  const auto parsed = parse_run_request(*json);
  if (!parsed) FAIL(parsed.error().message);
  CHECK(*parsed == run);
}

TEST_CASE("a small request has no limits and nothing else that was not asked for") {
  kernel::Request request;
  request.agent = "python";
  request.cwd = "/srv";
  const auto parsed = parse_run_request(request_to_json({.request = request}).value());
  REQUIRE(parsed);
  CHECK(parsed->request == request);
}

TEST_CASE("an argument that is not UTF-8 is refused, not changed") {
  kernel::Request request;
  request.argv = {"cat", "\xff"};
  const auto json = request_to_json({.request = request});
  REQUIRE_FALSE(json);
  CHECK(json.error().code == kernel::ErrorCode::invalid_request);
}

TEST_CASE("where a run starts depends on whether it has an inside") {
  RequestOptions options;
  kernel::Request request;

  SECTION("a sandbox, nothing said: its workspace") {
    set_start_directory(request, options, /*uses_bubblewrap=*/true, "/home/user");
    CHECK(request.workdir.empty());
    CHECK(request.cwd.empty());
  }
  SECTION("no sandbox, nothing said: here") {
    set_start_directory(request, options, /*uses_bubblewrap=*/false, "/home/user");
    CHECK(request.workdir.empty());
    CHECK(request.cwd == "/home/user");
  }
  SECTION("a workdir is inside where there is an inside, and otherwise on the host") {
    options.workdir = "src";
    options.host_workdir = "/home/user/src";
    set_start_directory(request, options, /*uses_bubblewrap=*/true, "");
    CHECK(request.workdir == "src");
    CHECK(request.cwd.empty());
    request = {};
    set_start_directory(request, options, /*uses_bubblewrap=*/false, "");
    CHECK(request.workdir.empty());
    CHECK(request.cwd == "/home/user/src");
  }
}

TEST_CASE("a directory can be entered by others if each component can") {
  char name[] = "/var/tmp/paddock-enter-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  const std::string top = name;
  const std::string below = top + "/below";
  REQUIRE(::mkdir(below.c_str(), 0755) == 0);
  REQUIRE(::chmod(below.c_str(), 0755) == 0);
  CHECK_FALSE(can_be_entered_by_others(below));
  REQUIRE(::chmod(top.c_str(), 0711) == 0);
  CHECK(can_be_entered_by_others(below));
  CHECK(can_be_entered_by_others("/"));
  CHECK_FALSE(can_be_entered_by_others(below + "/absent"));
  std::filesystem::remove_all(top);
}

TEST_CASE("granting extends what resolve() allows, and resolve() stays the judge") {
  kernel::Profile profile;
  profile.name = "MINE";
  profile.use_bubblewrap = true;
  profile.deny_network = true;
  kernel::Request request;
  request.argv = {"true"};
  request.bind_ro = {"/usr/share"};
  request.bind_rw = {"/srv/data"};
  request.network = true;
  request.environment = {{"FOO", "1"}};
  CHECK_FALSE(kernel::resolve(profile, request));

  grant(profile, request);
  const auto policy = kernel::resolve(profile, request);
  if (!policy) FAIL(policy.error().message);
  CHECK(policy->bind_ro == std::vector<std::string>{"/usr/share"});
  CHECK(policy->bind_rw == std::vector<std::string>{"/srv/data"});
  CHECK_FALSE(policy->deny_network);
  CHECK(policy->environment.at("FOO") == "1");

  request.environment = {{"LD_PRELOAD", "x.so"}};
  grant(profile, request);
  CHECK_FALSE(kernel::resolve(profile, request));
}
