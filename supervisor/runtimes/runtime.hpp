#pragma once
// Runtime: how code of one language is compiled and run, as runtimes/*.toml says. Plain data.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/runs/warm_source.hpp"

namespace paddock::supervisor {

struct CompileStep {
  std::vector<std::string> command;
  std::string artifact;  // the file in the workspace that is the result
  std::optional<std::chrono::milliseconds> wall_clock;

  bool operator==(const CompileStep&) const = default;
};

struct Runtime {
  std::string name;
  std::vector<std::string> aliases;
  std::string source;  // what the code is called in the workspace
  std::optional<CompileStep> compile;
  std::vector<std::string> run;
  std::vector<std::string> version;        // a command that prints it; empty: none
  std::string profile;                     // for requests that name none; empty: whatever they get
  std::string file;                        // where it was read, for messages
  std::string install{};                   // how a host gets it, for people; empty: nothing is said
  std::shared_ptr<const WarmWish> warm{};  // of runs that ask for it; null: there are no zygotes

  bool operator==(const Runtime& other) const;
};

using Runtimes = std::map<std::string, Runtime>;  // by name

// By name or alias, nullptr if there is none.
const Runtime* find_runtime(const Runtimes& runtimes, const std::string& name_or_alias);

}  // namespace paddock::supervisor
