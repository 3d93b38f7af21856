#pragma once
// AgentTemplate: an agent as an operator wrote it in agents/*.toml: a command and the profile it
// runs under. A request that names an agent gets the template's command, with the request's own
// argv appended, and can tighten but not replace what the template says.

#include <map>
#include <string>
#include <vector>

namespace paddock::kernel {

struct AgentTemplate {
  std::string name;  // [A-Za-z0-9_-]{1,64}
  std::string description;
  std::string source;  // the file it came from
  std::string profile;
  std::vector<std::string> command;                // never empty
  std::map<std::string, std::string> environment;  // added to the profile's
  std::string workdir;                             // as the command sees it; empty: the profile's

  bool operator==(const AgentTemplate&) const = default;
};

}  // namespace paddock::kernel
