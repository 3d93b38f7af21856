#pragma once
// What came of one attempt, read from its output and from how its run ended. Pure.

#include <string>
#include <string_view>

#include "kernel/run/result.hpp"

namespace paddock::escapes {

struct Observation {
  enum class Kind {
    succeeded,    // it got what it tried to get
    stopped,      // by what `word` says: "EPERM", "SIGSYS", "wall_clock"
    unsupported,  // this kernel or host has not what the attempt needs
    unclear,      // no report and no ending that explains that
  };
  Kind kind = Kind::unclear;
  std::string word;
  std::string detail;

  bool operator==(const Observation&) const = default;
};

// From the attempt's own report, the last line of its output that is one.
Observation read_report(std::string_view output);

// From a whole run: a limit or a signal that ended it counts more than what it said before.
Observation observe(const kernel::SandboxResult& result);

}  // namespace paddock::escapes
