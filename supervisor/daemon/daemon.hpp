#pragma once
// Daemon: the parts of paddockd, in the order in which they must die.

#include <memory>
#include <optional>

#include "kernel/run/sandbox.hpp"
#include "supervisor/access/config_store.hpp"
#include "supervisor/agents/agent_table.hpp"
#include "supervisor/agents/budget_book.hpp"
#include "supervisor/api/api.hpp"
#include "supervisor/config/health_store.hpp"
#include "supervisor/daemon/daemon_config.hpp"
#include "supervisor/http/server.hpp"
#include "supervisor/ledger/ledger.hpp"
#include "supervisor/ledger/timed_recorder.hpp"
#include "supervisor/loop/event_loop.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/loop/worker.hpp"
#include "supervisor/runs/canary.hpp"
#include "supervisor/runs/run_metrics.hpp"
#include "supervisor/runs/run_table.hpp"
#include "supervisor/telemetry/loop_lag.hpp"
#include "supervisor/telemetry/metrics.hpp"
#include "supervisor/telemetry/service_manager.hpp"
#include "supervisor/verify/gold_items.hpp"
#include "supervisor/verify/key_store.hpp"
#include "supervisor/verify/verifier.hpp"
#include "supervisor/verify/verify_wishes.hpp"
#include "supervisor/warm/warm_pool.hpp"

namespace paddock::supervisor {

class Daemon {
 public:
  // Everything is checked and bound; nothing is accepted before serve(). Fails with the first thing
  // that keeps the daemon from doing its whole job.
  static kernel::Result<std::unique_ptr<Daemon>> create(DaemonConfig config,
                                                        ServiceManager services);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Returns when a signal has ended the daemon and no run is left.
  void serve();

 private:
  Daemon(DaemonConfig config, ServiceManager services, std::unique_ptr<EventLoop> loop,
         kernel::Sandbox sandbox, std::unique_ptr<Ledger> ledger,
         std::unique_ptr<Worker> disk_worker);

  // daemon.cpp: its start, its sockets, its life and its end.
  kernel::Result<void> handle_signals();
  kernel::Result<void> listen();
  kernel::Result<Listener> listener(const std::string& path, const std::string& name,
                                    std::vector<PassedSocket>& passed);
  kernel::Result<void> listen_on_tcp();
  void feed_watchdog();
  void shut_down();
  void drained();

  // daemon_reload.cpp: what is in force.
  kernel::Result<void> load_config();
  void reload();
  void report_reload(const std::vector<kernel::Diagnostic>& diagnostics);
  void apply_config();  // the limits of tenants and budgets, and the token
  void share_sockets();
  kernel::Result<void> examine();

  // daemon_reports.cpp: what is told of it.
  void record(std::string kind, std::string body);
  void report_drain(std::string_view step);
  void report_key(const std::string& tenant, const MacKey& key, KeyStore::IfPresent if_present);
  void report_ledger();
  WarmPool::Parts warm_parts();
  std::string status() const;
  MetricsNow metrics_now() const;

  DaemonConfig config_;
  ServiceManager services_;
  std::unique_ptr<EventLoop> loop_;
  kernel::Sandbox sandbox_;
  std::unique_ptr<Ledger> ledger_;
  // After the runs: writes the outcomes of those that were killed in the end.
  struct LastWords {
    ~LastWords();
    Ledger& ledger;
  } last_words_;
  ConfigStore config_store_;
  HealthStore health_;
  EventStreams events_;
  OpenStreams open_streams_;
  Metrics metrics_;
  TimedRecorder recorder_;
  LoopLag loop_lag_;
  KeyStore keys_;
  std::unique_ptr<Worker> disk_worker_;
  BudgetBook budgets_;
  AgentTable agents_;  // outlives the runs, which tell it of their end
  RunMetrics run_metrics_;
  WarmPool warm_;
  VerifyWishes verify_wishes_;
  RunTable runs_;
  Verifier verifier_;  // goes before the runs that it has started
  RunHistory history_;
  GoldItems gold_items_;
  Canary canary_;
  TcpAccess tcp_;
  RuntimeVersions versions_;
  Api api_;
  std::unique_ptr<Server> main_server_;
  std::unique_ptr<Server> trainer_server_;
  std::unique_ptr<Server> tcp_server_;  // only where it is configured
  std::optional<gid_t> socket_group_;   // whom the sockets are open to now
  Timer watchdog_timer_;
  Timer farewell_timer_;
  std::vector<AgentRow> known_agents_;  // as the last daemon left them
  int stop_signals_ = 0;
};

}  // namespace paddock::supervisor
