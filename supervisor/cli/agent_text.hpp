#pragma once
// The API's answers about agents, for people.

#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

struct AgentText {
  std::string text;
  std::string state;  // "running"
};

kernel::Result<std::string> agent_list_text(std::string_view answer);
kernel::Result<AgentText> agent_status_text(std::string_view answer);  // of {"name", "status"}
kernel::Result<std::string> log_line_text(std::string_view line);

}  // namespace paddock::supervisor::cli
