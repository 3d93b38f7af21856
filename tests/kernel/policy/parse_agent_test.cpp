#include "kernel/policy/load.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

std::vector<std::string> agent_mistakes(std::string_view text) {
  std::vector<Diagnostic> diagnostics;
  const auto agent = parse_agent(text, "a.toml", diagnostics);
  CHECK(agent.has_value() == diagnostics.empty());
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : diagnostics) lines.push_back(to_string(diagnostic));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("an agent has every key where the operator wrote it") {
  std::vector<Diagnostic> diagnostics;
  const auto agent = parse_agent(R"(
name = "python"
description = "runs Python"
profile = "STRICT"
command = ["python3", "-I", ""]
workdir = "/workspace"
[environment]
set = {LANG = "C"}
)",
                                 "a.toml", diagnostics);
  REQUIRE(agent);
  AgentTemplate expected;
  expected.name = "python";
  expected.description = "runs Python";
  expected.source = "a.toml";
  expected.profile = "STRICT";
  expected.command = {"python3", "-I", ""};
  expected.workdir = "/workspace";
  expected.environment = {{"LANG", "C"}};
  CHECK(*agent == expected);
}

TEST_CASE("an agent needs a name, a profile and a command") {
  CHECK(agent_mistakes("") ==
        Lines{
            "a.toml:1:1: name is missing",
            "a.toml:1:1: profile is missing: an agent says which profile it runs "
            "under",
            "a.toml:1:1: command is missing: write [\"program\", \"argument\"]",
        });
}

TEST_CASE("all agent_mistakes of an agent come at once") {
  const Lines lines = agent_mistakes(R"(name = "a/b"
profile = 3
comand = ["x"]
command = []
workdir = "work"
[environment]
allow = ["LANG"]
set = {PYTHONPATH = "/x"}
)");
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] == "a.toml:1:8: name 'a/b' is not of the form [A-Za-z0-9_-]{1,64}");
  CHECK(lines[1] == "a.toml:2:11: profile must be a string, not an integer");
  CHECK(lines[2] == "a.toml:3:1: unknown key 'comand' at the top level; did you mean 'command'?");
  CHECK(lines[3] == "a.toml:4:11: command names no program");
  CHECK(lines[4] == "a.toml:5:11: workdir 'work' is not absolute");
  CHECK(lines[5] == "a.toml:7:1: unknown key 'allow' in [environment]; known are 'set'");
  CHECK(lines[6].find("a.toml:8:21: environment names 'PYTHONPATH'") == 0);
}

TEST_CASE("a command is a list of strings without NUL") {
  const std::string head = "name = \"a\"\nprofile = \"OFF\"\n";
  CHECK(agent_mistakes(head + "command = \"ls -l\"\n") ==
        Lines{"a.toml:3:11: command must be a list of strings, not a string"});
  CHECK(agent_mistakes(head + "command = [\"ls\", \"\\u0000\"]\n") ==
        Lines{"a.toml:3:18: command[1] contains a NUL character"});
  CHECK(agent_mistakes(head + "command = [\"\"]\n") ==
        Lines{"a.toml:3:11: command names no program"});
}
