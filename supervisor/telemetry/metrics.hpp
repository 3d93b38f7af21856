#pragma once
// Metrics: what the daemon counts, as Prometheus reads it. metrics.cpp is the only file that
// includes prometheus-cpp. Labels are names that operators gave (profiles, classes of tenants) and
// names of ours: the number of series does not grow with runs.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::supervisor {

// What is looked up when somebody asks, instead of being counted as it happens.
struct MetricsNow {
  std::size_t runs_alive = 0;
  std::size_t runs_queued = 0;
  std::size_t items_alive = 0;  // of verify requests
  std::size_t items_queued = 0;
  std::size_t profiles_refused = 0;
  bool config_stale = false;
  bool draining = false;
  bool ledger_writing = true;
  std::size_t ledger_unwritten = 0;
  std::map<std::string, std::size_t> agents;  // state -> how many
  std::chrono::duration<double> loop_lag{0};
  std::map<std::string, std::map<std::string, std::size_t>>
      zygotes{};  // runtime -> state -> how many
};

class Metrics {
 public:
  using Seconds = std::chrono::duration<double>;

  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void run_finished(std::string_view profile, std::string_view cause,
                    std::string_view tenant_class);
  void run_refused(std::string_view reason);
  void run_left_queue(Seconds waited);
  void run_set_up(Seconds took);        // from the spawn to the opened gate
  void run_killed(Seconds took);        // from the order to the proof that nobody is left
  void ledger_committed(Seconds took);  // from the hand-over to the answer
  void agent_restarted();
  void budget_breached();
  void verdict_given(std::string_view verdict, std::string_view cause);
  void warm_start(std::string_view runtime, bool warm);  // of a run that asked for it
  void zygote_ended(std::string_view runtime, std::string_view reason);

  // The text format of version 0.0.4.
  std::string text(const MetricsNow& now);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace paddock::supervisor
