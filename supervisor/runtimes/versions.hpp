#pragma once
// RuntimeVersions: which runtimes this host has, and in which version. Asked of each runtime by its
// own command, in a run, when somebody wants to know; remembered until the runtime changes, or a
// reload.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/runs/run_table.hpp"
#include "supervisor/runtimes/runtime.hpp"

namespace paddock::supervisor {

struct RuntimeVersion {
  bool is_there = true;   // false: the program of its version command is not
  std::string version{};  // "3.11.2"; empty: nobody knows
  std::string why{};      // of one that is not there

  bool operator==(const RuntimeVersion&) const = default;
};

// What the run of a version command says.
RuntimeVersion version_of(const kernel::SandboxResult& result);

// Little time and output are enough for a version.
void bound_version_run(kernel::SandboxPolicy& policy);

// The first number in what a version command printed, with all its parts.
std::string version_in(std::string_view text);

// True if `version` is what a selector of Piston's clients asks for: "*", "3", "3.x", "3.11.2",
// "^3.10", "~3.11" or ">=3". An unknown version is any.
bool version_matches(std::string_view selector, std::string_view version);

class RuntimeVersions {
 public:
  using Answer = std::function<void(const RuntimeVersion&)>;
  // A run of that command under the runtime's profile, or the one for those that name none.
  using Admit = std::function<kernel::Result<ResolvedRun>(const Runtime& runtime,
                                                          const std::vector<std::string>& command)>;

  // `runs` outlives this object, and this object the runs' observers.
  RuntimeVersions(RunTable& runs, Admit admit) : runs_(runs), admit_(std::move(admit)) {}

  // `answer` is called once, at once if it is known. What could not be asked counts as there.
  void find(const Runtime& runtime, Answer answer);

  // Whoever asks next has them asked again: something may have been installed since.
  void forget();

 private:
  struct Entry {
    Runtime runtime;
    std::optional<RuntimeVersion> version;
    std::vector<Answer> waiting;
  };

  void ask(const Runtime& runtime);
  void answered(const Runtime& runtime, const RuntimeVersion& version, bool for_good);

  RunTable& runs_;
  Admit admit_;
  std::map<std::string, Entry> entries_;
};

}  // namespace paddock::supervisor
