#pragma once
// The command line of paddock-escapes.

#include <optional>
#include <string>
#include <vector>

namespace paddock::escapes {

struct Options {
  std::vector<std::string> profiles = {"DEFAULT", "STRICT"};
  std::string only = "*";
  std::string cgroup_base;
  bool warm = false;
  bool json = false;
  bool list = false;
};

// Absent: what had to be said has been said, and `exit_code` is the program's.
std::optional<Options> parse_options(int argc, char** argv, int& exit_code);

}  // namespace paddock::escapes
