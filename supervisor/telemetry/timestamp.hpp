#pragma once

#include <chrono>
#include <string>

namespace paddock::supervisor {

// "2026-01-01T00:00:00.000Z": UTC in milliseconds, as every JSON and log line has it.
std::string timestamp(std::chrono::system_clock::time_point at);

}  // namespace paddock::supervisor
