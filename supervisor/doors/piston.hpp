#pragma once
// Piston's calls: GET /api/v2/runtimes and POST /api/v2/execute.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/doors/code_door.hpp"

namespace paddock::supervisor::piston {

struct Execute {
  CodeAsk ask;
  std::string version;  // a selector: versions.hpp

  bool operator==(const Execute&) const = default;
};

// Fails with invalid_request and names the key. The first file is the code.
kernel::Result<Execute> parse(std::string_view body);

// The result has no host fault.
std::string render(const CodeResult& result, const Runtime& runtime, const std::string& version,
                   const std::vector<std::string>& notes);

std::string render_runtimes(const std::vector<std::pair<Runtime, std::string>>& with_versions);

std::string render_error(const std::string& message);

}  // namespace paddock::supervisor::piston
