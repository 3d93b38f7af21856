#pragma once
// Times as tables show them.

#include <ctime>
#include <string>

namespace paddock::supervisor::cli {

// "2026-01-01T00:00:00.000Z" -> "3m". Empty if it is no such time.
std::string age_of(const std::string& created_at, std::time_t now);

}  // namespace paddock::supervisor::cli
