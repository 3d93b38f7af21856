#pragma once
// What doctor found, as text and as JSON. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

struct ProfileHealth {
  std::string name;
  bool available = false;             // a run under it was confined as it says
  std::string problem;                // if not: why
  std::vector<std::string> degraded;  // what it asks for "if ..." and does not get here
};

// `host_json` is the API's; `daemon` is its socket, or empty.
kernel::Result<std::string> doctor_text(std::string_view host_json, const std::string& daemon,
                                        const std::vector<ProfileHealth>& profiles);
kernel::Result<std::string> doctor_json(std::string_view host_json, const std::string& daemon,
                                        const std::vector<ProfileHealth>& profiles);

}  // namespace paddock::supervisor::cli
