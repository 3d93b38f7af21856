#pragma once
// SandboxFusion's POST /run_code: its messages from and to a CodeAsk and a CodeResult.

#include <string>
#include <string_view>
#include <vector>

#include "supervisor/doors/code_door.hpp"

namespace paddock::supervisor::fusion {

// What its client waits for beyond both timeouts; the answer must be there before that.
constexpr std::chrono::milliseconds patience{8'000};

// Fails with invalid_request and names the key. Keys that the protocol does not have are left
// alone, as its own server does.
kernel::Result<CodeAsk> parse(std::string_view body);

// From the request on: its timeouts, and the patience.
std::chrono::milliseconds time_to_answer(const CodeAsk& ask, bool compiles);

// The result has no host fault: that is no answer of this protocol, but a 504.
std::string render(const CodeResult& result, const std::vector<std::string>& notes);

}  // namespace paddock::supervisor::fusion
