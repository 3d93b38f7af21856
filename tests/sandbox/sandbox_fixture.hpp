#pragma once
// What the sandbox tests share: shipped profiles, the tiny programs, real runs, and a look at what
// is left of them.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernel/policy/policy.hpp"
#include "kernel/run/result.hpp"
#include "kernel/run/run.hpp"
#include "kernel/run/sandbox.hpp"
#include "support/catch.hpp"
#include "support/host_support.hpp"

namespace paddock::tests {

using Argv = std::vector<std::string>;

bool is_root();

// A shipped profile, resolved. With bubblewrap the directory of the tiny programs is bound too.
kernel::SandboxPolicy policy_of(const std::string& profile);

// The path of tests/programs/NAME where every run can execute it.
std::string program(const std::string& name);

// A word that is in the command line of no process but those that a test gives it to.
std::string make_marker();
std::vector<pid_t> processes_with(const std::string& marker);

// True as soon as `condition` holds, false if it does not within `time`.
bool soon(const std::function<bool()>& condition,
          std::chrono::milliseconds time = std::chrono::seconds(5));

// What every host can give.
inline constexpr const char* profiles[] = {"OFF", "DEFAULT", "STRICT"};

constexpr std::uint64_t mib = 1u << 20;

struct RunInput {
  std::string stdin_bytes{};
  std::map<std::string, std::string> environment{};
  std::string cwd{};
  int channel = -1;
  int program_file = -1;
};

// A run that can be started, from start to end. The test fails if it cannot.
kernel::SandboxResult run(const kernel::SandboxPolicy& policy, const Argv& argv,
                          const RunInput& input = {});

// The same, for runs that overlap: drives all of them until all are finished, and calls `look`
// after each turn.
void drive_all(
    const std::vector<kernel::Run*>& runs, const std::function<void()>& look = [] {});

// "name=value" lines as a map.
std::map<std::string, std::string> values_in(const std::string& text);

std::string one_line(std::string text);  // without the newline at its end

}  // namespace paddock::tests

namespace paddock::kernel {

// So that a failed comparison says which cause it was.
inline std::ostream& operator<<(std::ostream& out, Cause cause) {
  return out << name_of(cause);
}

}  // namespace paddock::kernel
