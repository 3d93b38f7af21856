#include "supervisor/runs/run_record.hpp"

#include <fmt/format.h>

#include "kernel/base/random.hpp"

namespace paddock::supervisor {

RunId make_run_id() {
  return fmt::format("r-{:016x}", kernel::random_bits());
}

bool is_run_id(std::string_view text) {
  constexpr std::size_t digits = 16;
  return text.size() == 2 + digits && text.starts_with("r-") &&
         text.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

std::string_view name_of(RunPhase phase) {
  switch (phase) {
    case RunPhase::queued:
      return "queued";
    case RunPhase::running:
      return "running";
    case RunPhase::finished:
      return "finished";
  }
  return "finished";
}

std::optional<RunPhase> phase_named(std::string_view name) {
  for (const RunPhase phase : {RunPhase::queued, RunPhase::running, RunPhase::finished})
    if (name == name_of(phase)) return phase;
  return std::nullopt;
}

}  // namespace paddock::supervisor
