#include "supervisor/telemetry/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>

namespace paddock::supervisor {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using prometheus::Registry;

Family<Counter>& counters(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

Counter& counter(Registry& registry, const char* name, const char* help) {
  return counters(registry, name, help).Add({});
}

Family<Gauge>& gauges(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

Gauge& gauge(Registry& registry, const char* name, const char* help) {
  return gauges(registry, name, help).Add({});
}

Histogram& histogram(Registry& registry, const char* name, const char* help,
                     const Histogram::BucketBoundaries& bounds_seconds) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({},
                                                                                   bounds_seconds);
}

// A set-up takes milliseconds, a kill up to its grace, a commit one sync of a disk.
const Histogram::BucketBoundaries short_bounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                  0.1,   0.25,   0.5,   1,    2.5,   5};
const Histogram::BucketBoundaries long_bounds = {0.005, 0.01, 0.05, 0.1, 0.5, 1,
                                                 2.5,   5,    10,   30,  60,  300};

double to_double(std::size_t value) {
  return static_cast<double>(value);
}

}  // namespace

struct Metrics::Implementation {
  Registry registry;

  Family<Counter>& runs = counters(registry, "paddock_runs_total", "Runs that are over");
  Family<Counter>& refused = counters(registry, "paddock_runs_refused_total",
                                      "Requests to run something that were refused, by error code");
  Histogram& setup = histogram(registry, "paddock_run_setup_seconds",
                               "From the spawn of a run to its opened gate", short_bounds);
  Histogram& kill = histogram(
      registry, "paddock_run_kill_seconds",
      "From the order to end a run, grace included, to the proof that nobody is left", long_bounds);
  Histogram& queue = histogram(registry, "paddock_run_queue_seconds",
                               "From a request to the spawn of its run", long_bounds);
  Histogram& commit = histogram(registry, "paddock_ledger_commit_seconds",
                                "From a transition's hand-over to its commit", short_bounds);
  Counter& agent_restarts =
      counter(registry, "paddock_agent_restarts_total", "Restarts of agents after their end");
  Counter& breaches =
      counter(registry, "paddock_budget_breaches_total", "Budgets that agents have used up");

  Family<Counter>& verdicts =
      counters(registry, "paddock_verdicts_total", "Items that were judged, or could not be");

  Family<Counter>& warm_starts =
      counters(registry, "paddock_warm_starts_total", "Starts of runs that asked to be warm");
  Family<Counter>& zygote_ends =
      counters(registry, "paddock_warm_zygote_ends_total", "Zygotes that have ended, by reason");
  Family<Gauge>& zygotes =
      gauges(registry, "paddock_warm_zygotes", "Interpreters that fork runs, by state");

  Gauge& runs_alive = gauge(registry, "paddock_runs_alive", "Runs that have a process now");
  Gauge& runs_queued = gauge(registry, "paddock_runs_queued", "Runs that wait for a place");
  Gauge& items_alive = gauge(registry, "paddock_verify_items_alive", "Items that are being judged");
  Gauge& items_queued =
      gauge(registry, "paddock_verify_items_queued", "Items that wait to be judged");
  Gauge& profiles_refused = gauge(registry, "paddock_profiles_refused",
                                  "Profiles that are refused because a probe spoke against them");
  Gauge& config_stale = gauge(registry, "paddock_config_stale",
                              "1: the last reload failed and older files are in force");
  Gauge& draining = gauge(registry, "paddock_draining", "1: nothing new is taken");
  Gauge& ledger_writing =
      gauge(registry, "paddock_ledger_writing", "0: the ledger cannot be written");
  Gauge& ledger_unwritten =
      gauge(registry, "paddock_ledger_unwritten", "Transitions that wait for their commit");
  Family<Gauge>& agents = gauges(registry, "paddock_agents", "Agents by state");
  Gauge& loop_lag = gauge(registry, "paddock_loop_lag_seconds",
                          "The latest that the daemon's loop was in the last half minute");
  std::map<std::string, Gauge*> agents_by_state;

  void set_agents(const std::map<std::string, std::size_t>& by_state) {
    for (const auto& [state, count] : by_state)
      if (!agents_by_state.contains(state))
        agents_by_state[state] = &agents.Add({{"state", state}});
    for (const auto& [state, gauge_of_state] : agents_by_state) {
      const auto now = by_state.find(state);
      gauge_of_state->Set(now == by_state.end() ? 0 : to_double(now->second));
    }
  }
};

Metrics::Metrics(std::string_view version) : implementation_(std::make_unique<Implementation>()) {
  gauges(implementation_->registry, "paddock_build_info", "1; the version is in the label")
      .Add({{"version", std::string(version)}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::run_finished(std::string_view profile, std::string_view cause,
                           std::string_view tenant_class) {
  implementation_->runs
      .Add(Labels{{"profile", std::string(profile)},
                  {"cause", std::string(cause)},
                  {"tenant_class", std::string(tenant_class)}})
      .Increment();
}

void Metrics::run_refused(std::string_view reason) {
  implementation_->refused.Add(Labels{{"reason", std::string(reason)}}).Increment();
}

void Metrics::run_left_queue(Seconds waited) {
  implementation_->queue.Observe(waited.count());
}

void Metrics::run_set_up(Seconds took) {
  implementation_->setup.Observe(took.count());
}

void Metrics::run_killed(Seconds took) {
  implementation_->kill.Observe(took.count());
}

void Metrics::ledger_committed(Seconds took) {
  implementation_->commit.Observe(took.count());
}

void Metrics::agent_restarted() {
  implementation_->agent_restarts.Increment();
}

void Metrics::budget_breached() {
  implementation_->breaches.Increment();
}

void Metrics::verdict_given(std::string_view verdict, std::string_view cause) {
  implementation_->verdicts
      .Add(Labels{{"verdict", std::string(verdict)}, {"cause", std::string(cause)}})
      .Increment();
}

void Metrics::warm_start(std::string_view runtime, bool warm) {
  implementation_->warm_starts
      .Add(Labels{{"runtime", std::string(runtime)}, {"start", warm ? "warm" : "cold"}})
      .Increment();
}

void Metrics::zygote_ended(std::string_view runtime, std::string_view reason) {
  implementation_->zygote_ends
      .Add(Labels{{"runtime", std::string(runtime)}, {"reason", std::string(reason)}})
      .Increment();
}

std::string Metrics::text(const MetricsNow& now) {
  Implementation& all = *implementation_;
  all.runs_alive.Set(to_double(now.runs_alive));
  all.runs_queued.Set(to_double(now.runs_queued));
  all.items_alive.Set(to_double(now.items_alive));
  all.items_queued.Set(to_double(now.items_queued));
  all.profiles_refused.Set(to_double(now.profiles_refused));
  all.config_stale.Set(now.config_stale ? 1 : 0);
  all.draining.Set(now.draining ? 1 : 0);
  all.ledger_writing.Set(now.ledger_writing ? 1 : 0);
  all.ledger_unwritten.Set(to_double(now.ledger_unwritten));
  all.set_agents(now.agents);
  all.loop_lag.Set(now.loop_lag.count());
  for (const auto& [runtime, by_state] : now.zygotes)
    for (const auto& [state, count] : by_state)
      all.zygotes.Add(Labels{{"runtime", runtime}, {"state", state}}).Set(to_double(count));

  std::vector<prometheus::MetricFamily> families = all.registry.Collect();
  std::sort(families.begin(), families.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace paddock::supervisor
