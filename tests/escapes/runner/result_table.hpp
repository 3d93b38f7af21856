#pragma once
// What the user sees: a line for each attempt, then what is open, unsupported and failed, and why.
// Pure.

#include <map>
#include <string>
#include <vector>

#include "escapes/runner/expectation.hpp"

namespace paddock::escapes {

struct AttemptResult {
  std::string name;
  std::string group;
  Judgement control;  // open: it succeeded, as it must
  std::vector<Judgement>
      by_profile;  // as in Columns::profiles; empty if the control did not succeed

  bool operator==(const AttemptResult&) const = default;
};

struct Columns {
  std::vector<std::string> profiles;
  std::size_t name_width = 0;
};

// "  fs_read_shadow   succeeded   stopped EACCES   stopped ENOENT"
std::string heading(const Columns& columns);
std::string line_of(const AttemptResult& result, const Columns& columns);

// Open, unsupported and failed attempts, each with its reason; those with the same one together.
std::string explanations(const std::vector<AttemptResult>& results, const Columns& columns);

struct Tally {
  std::size_t stopped = 0;
  std::size_t open = 0;
  std::size_t unsupported = 0;
  std::size_t failed = 0;

  bool operator==(const Tally&) const = default;
};
Tally tally(const std::vector<AttemptResult>& results, std::size_t profile);
std::string summary(const std::vector<AttemptResult>& results, const Columns& columns);

bool any_failed(const std::vector<AttemptResult>& results);

std::string to_json(const std::vector<AttemptResult>& results, const Columns& columns);

}  // namespace paddock::escapes
