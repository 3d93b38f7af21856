// Daemon: what it tells of itself, in the log, as events, in its status and as metrics.

#include <fmt/format.h>

#include "supervisor/daemon/daemon.hpp"
#include "supervisor/telemetry/log.hpp"

namespace paddock::supervisor {

// An event of the daemon itself. `body` is a JSON object.
void Daemon::record(std::string kind, std::string body) {
  Transition transition;
  transition.event = {.kind = std::move(kind),
                      .subject = {},
                      .tenant = {},
                      .body = std::move(body),
                      .at = std::chrono::system_clock::now()};
  ledger_->commit(std::move(transition), IfUnwritten::keep, {});
}

void Daemon::report_drain(std::string_view step) {
  record(fmt::format("daemon.drain_{}", step),
         fmt::format("{{\"alive\":{},\"queued\":{}}}", runs_.alive(), runs_.queued()));
  log(LogLevel::info, "drain." + std::string(step),
      fmt::format("drain {}: {} runs alive, {} queued", step, runs_.alive(), runs_.queued()),
      {{"alive", log_count(runs_.alive())}, {"queued", log_count(runs_.queued())}});
  services_.status(status());
}

// Which key, never the key.
void Daemon::report_key(const std::string& tenant, const MacKey& key,
                        KeyStore::IfPresent if_present) {
  const bool rotated = if_present == KeyStore::IfPresent::replace;
  const std::string kind = rotated ? "key.rotated" : "key.made";
  record(kind, fmt::format("{{\"tenant\":\"{}\",\"key_id\":\"{}\"}}", tenant, key.id));
  log(LogLevel::info, kind,
      fmt::format("{} the key {} of {}", rotated ? "rotated in" : "made", key.id,
                  tenant.empty() ? "the operator" : "tenant '" + tenant + "'"),
      {{"tenant", tenant}, {"key_id", key.id}});
}

// Whether it is written, whenever that turns.
void Daemon::report_ledger() {
  const std::string& failure = ledger_->failure();
  if (failure.empty()) {
    log(LogLevel::info, "ledger.writing", "the ledger is written again");
  } else {
    log(LogLevel::error, "ledger.not_writing", "the ledger cannot be written: " + failure,
        {{"problem", failure}});
  }
  services_.status(status());
}

std::string Daemon::status() const {
  std::string text = runs_.draining() ? "draining" : "serving";
  if (config_store_.stale()) text += "; the last reload failed, older profiles are in force";
  if (!ledger_->failure().empty()) text += "; the ledger cannot be written";
  if (!health_.refusals().empty())
    text += "; refused by their probes: " + std::to_string(health_.refusals().size()) + " profiles";
  return text;
}

MetricsNow Daemon::metrics_now() const {
  return {.runs_alive = runs_.alive(),
          .runs_queued = runs_.queued(),
          .items_alive = verifier_.alive(),
          .items_queued = verifier_.queued(),
          .profiles_refused = health_.refusals().size(),
          .config_stale = config_store_.stale(),
          .draining = runs_.draining(),
          .ledger_writing = ledger_->is_writing(),
          .ledger_unwritten = ledger_->unwritten(),
          .agents = agents_.count_by_state(),
          .loop_lag = loop_lag_.recent(),
          .zygotes = warm_.now().zygotes};
}

}  // namespace paddock::supervisor
