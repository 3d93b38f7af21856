#include "supervisor/runs/run_record.hpp"

#include <fmt/format.h>
#include <sys/random.h>

namespace paddock::supervisor {

RunId make_run_id() {
  std::uint64_t bits = 0;
  while (::getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return fmt::format("r-{:016x}", bits);
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
