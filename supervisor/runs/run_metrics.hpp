#pragma once
// RunMetrics: counts what the run table tells.

#include <functional>
#include <string>

#include "supervisor/runs/run_table_observer.hpp"
#include "supervisor/telemetry/metrics.hpp"

namespace paddock::supervisor {

class RunMetrics final : public RunTableObserver {
 public:
  // `class_of`: a tenant's class. There are only as many as operators have named.
  using ClassOf = std::function<std::string(const std::string& tenant)>;
  RunMetrics(Metrics& metrics, ClassOf class_of)
      : metrics_(metrics), class_of_(std::move(class_of)) {}

  void run_refused(kernel::ErrorCode reason) override;
  void run_left_queue(const RunRecord& run) override;
  void run_finished(const RunRecord& run, std::optional<Seconds> kill_time) override;

 private:
  Metrics& metrics_;
  ClassOf class_of_;
};

}  // namespace paddock::supervisor
