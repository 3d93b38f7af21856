#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

constexpr const char* path_line = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

}  // namespace

TEST_CASE("a program's environment is constructed, and nothing of the supervisor's is in it") {
  ::setenv("SECRET_API_KEY", "canary-of-the-supervisor", 1);
  CHECK(sorted_lines(run(policy_of("STRICT"), {"env"}).stdout) ==
        std::vector<std::string>{"HOME=/home/agent", "LANG=C.UTF-8", "LOGNAME=agent", path_line,
                                 "SHELL=/bin/sh", "USER=agent"});
  for (const char* profile : {"OFF", "DEFAULT"}) {
    INFO(profile);
    const SandboxResult result =
        run(policy_of(profile), {"sh", "-c", "env -u PWD; echo HOME=$PWD"});
    auto lines = sorted_lines(result.stdout);
    const auto home = std::find_if(lines.begin(), lines.end(),
                                   [](const auto& line) { return line.starts_with("HOME="); });
    REQUIRE(home != lines.end());
    CHECK(std::count(lines.begin(), lines.end(), *home) == 2);
    lines.erase(std::remove(lines.begin(), lines.end(), std::string(*home)), lines.end());
    CHECK(lines == std::vector<std::string>{"LANG=C.UTF-8", path_line});
  }
  ::unsetenv("SECRET_API_KEY");
}

TEST_CASE("what the caller sets reaches the program as it is") {
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    const RunInput input{.environment = {{"TOKEN", "a=b c\n"}, {"LANG", "C"}, {"EMPTY", ""}}};
    CHECK(run(policy_of(profile), {"sh", "-c", "printf %s \"$TOKEN|$LANG|${EMPTY-unset}\""}, input)
              .stdout == "a=b c\n|C|");
  }
}

TEST_CASE("no process that a program can see holds the supervisor's environment") {
  // Goal: bubblewrap's --clearenv leaves it in /proc/1/environ. Method: search every environ that
  // can be read inside; the program's own must be among them, or nothing was searched.
  ::setenv("SECRET_API_KEY", "canary-of-the-supervisor", 1);
  const SandboxResult result =
      run(policy_of("STRICT"), {"sh", "-c",
                                "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' >/tmp/all; "
                                "grep -c ^HOME= /tmp/all; grep -c canary /tmp/all"});
  ::unsetenv("SECRET_API_KEY");
  const auto lines = sorted_lines(result.stdout);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "0");
  CHECK(std::stoi(lines[1]) >= 1);
}

TEST_CASE("an environment of a megabyte reaches the program") {
  std::map<std::string, std::string> environment;
  for (int i = 0; i < 10; ++i) environment["BIG_" + std::to_string(i)] = std::string(100'000, 'x');
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    const SandboxResult result =
        run(policy_of(profile), {"sh", "-c", "env | grep -c ^BIG_"}, {.environment = environment});
    CHECK(result.stdout == "10\n");
  }
}
