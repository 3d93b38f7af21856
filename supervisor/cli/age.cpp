#include "supervisor/cli/age.hpp"

#include <fmt/format.h>

namespace paddock::supervisor::cli {

std::string age_of(const std::string& created_at, std::time_t now) {
  std::tm time{};
  if (::strptime(created_at.c_str(), "%Y-%m-%dT%H:%M:%S", &time) == nullptr) return {};
  const long seconds = now - ::timegm(&time);
  if (seconds < 0) return "0s";
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m", seconds / 60);
  if (seconds < 86400) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

}  // namespace paddock::supervisor::cli
