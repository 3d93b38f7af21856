#include "kernel/policy/request.hpp"

#include "support/catch.hpp"

using namespace paddock::kernel;
using namespace std::string_literals;

namespace {

Request small_request() {
  Request request;
  request.argv = {"/bin/true"};
  return request;
}

// The message that check_request refuses `request` with.
std::string refusal(const Request& request) {
  const auto checked = check_request(request);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == ErrorCode::invalid_request);
  return checked.error().message;
}

}  // namespace

TEST_CASE("a request needs something to run: an argv or an agent") {
  CHECK(check_request(small_request()));
  Request request;
  CHECK(refusal(request) == "argv is empty and no agent is named: nothing to run");
  request.agent = "python";
  CHECK(check_request(request));
  request.agent.clear();
  request.argv = {""};
  CHECK(refusal(request) == "argv[0] is empty");
}

TEST_CASE("a NUL byte is refused wherever the kernel would cut the string there") {
  Request request = small_request();
  request.argv = {"a", "b", "c", "d\0e"s};
  CHECK(refusal(request) == "argv[3] contains a NUL byte");
  request = small_request();
  request.environment = {{"A", "b\0c"s}};
  CHECK(refusal(request) == "environment.A contains a NUL byte");
  request.environment = {{"A\0B"s, "c"}};
  CHECK(refusal(request) == "environment has a name that contains a NUL byte");
  request = small_request();
  request.bind_rw = {"/srv/a\0b"s};
  CHECK(refusal(request) == "bind_rw[0] contains a NUL byte");
  request = small_request();
  request.workdir = "/a\0"s;
  CHECK(refusal(request) == "workdir contains a NUL byte");
  request = small_request();
  request.stdin_bytes = "a\0b"s;  // bytes are bytes here
  CHECK(check_request(request));
}

TEST_CASE("argv is bounded in entries, in each entry and in sum") {
  Request request = small_request();
  request.argv = std::vector<std::string>(8192, "x");
  CHECK(check_request(request));
  request.argv = std::vector<std::string>(9000, "x");
  CHECK(refusal(request) == "argv has 9000 entries, at most 8192");
  request.argv = {"a", std::string(argument_bytes_max, 'x')};
  CHECK(check_request(request));
  request.argv = {"a", std::string(argument_bytes_max + 1, 'x')};
  CHECK(refusal(request) == "argv[1] is 131072 bytes, at most 131071");
  request.argv = std::vector<std::string>(8, std::string(argument_bytes_max, 'x'));
  CHECK(check_request(request));
  request.argv.emplace_back();
  CHECK(refusal(request) == "argv is 1048577 bytes, at most 1048576");
}

TEST_CASE("the environment is bounded, alone and together with argv") {
  Request request = small_request();
  request.environment = {{"BIG", std::string(10'485'755, 'x')}};
  CHECK(refusal(request) == "environment is 10485760 bytes, at most 1048576");
  request.environment = {{"BIG", std::string(argument_bytes_max, 'x')}};
  CHECK(refusal(request) ==
        "an environment variable is 131075 bytes with its name, at most 131071");

  request.environment.clear();
  for (int i = 0; i < 4097; ++i) request.environment.emplace("N" + std::to_string(i), "");
  CHECK(refusal(request) == "environment has 4097 entries, at most 4096");

  request.environment.clear();
  for (int i = 0; i < 6; ++i)
    request.environment["N" + std::to_string(i)] = std::string(100'000, 'x');
  request.argv = std::vector<std::string>(6, std::string(100'000, 'x'));
  CHECK(refusal(request).find("argv and environment are 12") == 0);
}

TEST_CASE("a variable's name has no '=' and is not empty") {
  Request request = small_request();
  request.environment = {{"A=B", "c"}};
  CHECK(refusal(request) == "environment has the name 'A=B', which contains '='");
  request.environment = {{"", "c"}};
  CHECK(refusal(request) == "environment has an empty name");
}

TEST_CASE("stdin is bounded") {
  Request request = small_request();
  request.stdin_bytes = std::string(stdin_bytes_max, 'x');
  CHECK(check_request(request));
  request.stdin_bytes += 'x';
  CHECK(refusal(request) == "stdin is 16777217 bytes, at most 16777216");
}

TEST_CASE("names in a request are plain names") {
  Request request = small_request();
  request.profile = "../STRICT";
  CHECK(refusal(request) == "profile is not of the form [A-Za-z0-9_-]{1,64}");
  request = small_request();
  request.agent = "a b";
  CHECK(refusal(request).find("agent ") == 0);
  request = small_request();
  request.tenant = std::string(65, 'a');
  CHECK(refusal(request).find("tenant ") == 0);
}

TEST_CASE("a limit of nothing is refused, not taken for no limit") {
  Request request = small_request();
  request.memory_bytes = 0;
  CHECK(refusal(request) == "memory_bytes is 0, at least 1");
  request = small_request();
  request.wall_clock = std::chrono::milliseconds(0);
  CHECK(refusal(request) == "wall_seconds is below 1ms");
  request.wall_clock = std::chrono::milliseconds(-5);
  CHECK(refusal(request) == "wall_seconds is below 1ms");
  request.wall_clock = std::chrono::hours(24 * 367);
  CHECK(refusal(request) == "wall_seconds is above 366 days");
}

TEST_CASE("paths in a request are absolute and few") {
  Request request = small_request();
  request.bind_ro = {"/srv", "data"};
  CHECK(refusal(request) == "bind_ro[1] 'data' is not an absolute path");
  request = small_request();
  request.cwd = "here";
  CHECK(refusal(request) == "cwd 'here' is not an absolute path");
  request = small_request();
  request.bind_ro = std::vector<std::string>(60, "/srv");
  request.bind_rw = std::vector<std::string>(5, "/srv");
  CHECK(refusal(request) == "bind_ro and bind_rw have 65 entries, at most 64");
}
