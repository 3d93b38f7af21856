#include "supervisor/runs/run_metrics.hpp"

namespace paddock::supervisor {

void RunMetrics::run_refused(kernel::ErrorCode reason) {
  metrics_.run_refused(kernel::name_of(reason));
}

void RunMetrics::run_left_queue(const RunRecord& run) {
  metrics_.run_left_queue(std::chrono::milliseconds(run.queue_ms));
}

void RunMetrics::run_finished(const RunRecord& run, std::optional<Seconds> kill_time) {
  metrics_.run_finished(run.profile, kernel::name_of(run.result->cause), class_of_(run.tenant));
  // A run whose gate never opened has no set-up to speak of.
  if (run.result->setup_s > 0)
    metrics_.run_set_up(std::chrono::duration<double>(run.result->setup_s));
  if (kill_time) metrics_.run_killed(*kill_time);
}

}  // namespace paddock::supervisor
