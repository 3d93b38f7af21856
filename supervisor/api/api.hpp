#pragma once
// Api: RFC 0002's calls. It finds the handler of a request and holds what the handlers need.

#include "kernel/run/sandbox.hpp"
#include "supervisor/access/caller.hpp"
#include "supervisor/access/config_store.hpp"
#include "supervisor/access/tcp_access.hpp"
#include "supervisor/agents/agent_table.hpp"
#include "supervisor/agents/budget_book.hpp"
#include "supervisor/api/event_stream.hpp"
#include "supervisor/api/open_streams.hpp"
#include "supervisor/api/run_history.hpp"
#include "supervisor/config/health_store.hpp"
#include "supervisor/http/exchange.hpp"
#include "supervisor/http/request.hpp"
#include "supervisor/loop/worker.hpp"
#include "supervisor/runs/canary.hpp"
#include "supervisor/runs/run_table.hpp"
#include "supervisor/runtimes/versions.hpp"
#include "supervisor/telemetry/metrics.hpp"
#include "supervisor/verify/key_store.hpp"
#include "supervisor/verify/verifier.hpp"
#include "supervisor/verify/verify_wishes.hpp"
#include "supervisor/warm/warm_pool.hpp"

namespace paddock::supervisor {

struct ApiContext {
  uv_loop_t* loop;
  const kernel::Sandbox& sandbox;
  RunTable& runs;
  RunHistory& history;
  ConfigStore& config_store;
  HealthStore& health;
  AgentTable& agents;
  BudgetBook& budgets;
  KnownUids known_uids;
  const TcpAccess& tcp;
  RuntimeVersions& versions;
  // Called after a reload that a client asked for, with what it found.
  std::function<void(const std::vector<kernel::Diagnostic>&)> on_reload;
  EventStreams& events;
  OpenStreams& open_streams;
  Metrics& metrics;
  std::function<MetricsNow()> metrics_now;
  Canary& canary;
  std::function<std::string()> ledger_failure;  // what the last write failed for; empty: it did not
  std::chrono::milliseconds drain_deadline;     // of a drain that names none
  // Called when a drain has begun ("begun"), is over ("done") or was cancelled ("cancelled").
  std::function<void(std::string_view)> on_drain;
  Verifier& verifier;
  WarmPool& warm;
  const VerifyWishes& verify_wishes;
  KeyStore& keys;
  Worker& disk_worker;  // makes keys; the agents' logs are written by the same one
  // Called when a tenant ("": the operator) has got a key that replaces one, or its first.
  std::function<void(const std::string& tenant, const MacKey&, KeyStore::IfPresent)> on_key;
};

// One call, with what its path held.
struct Call {
  HttpRequest request;
  Exchange exchange;
  Caller caller;   // has the verb of the call
  std::string id;  // the {id} or {name} of the path, if it has one
};

class Api {
 public:
  explicit Api(ApiContext context) : context_(std::move(context)) {}

  void handle(HttpRequest request, const Exchange& exchange);  // paddock.sock
  // trainer.sock; and TCP, where a stranger was refused by the header.
  void handle_trainer(HttpRequest request, const Exchange& exchange);

 private:
  ApiContext context_;
};

// Answers used by every handler.
void respond_json(const Exchange& exchange, int status, std::string body);
void respond_error(const Exchange& exchange, const kernel::Error& error,
                   const std::vector<kernel::Diagnostic>& diagnostics = {});

// What a stream ends with whose client may not have it any more.
kernel::Error access_revoked();

// Who asked, by the rules that are in force now.
kernel::Result<Caller> caller_now(const ApiContext& context, const Exchange& exchange);

// Streams the events of the query that the caller may see, until a reload takes `verb` or tenant.
void open_event_stream(const ApiContext& context, const Call& call, EventQuery query, Verb verb,
                       EventLine line);

// The run of the path if the caller can see it; otherwise it has been answered as unknown.
const RunRecord* find_run(const ApiContext& context, const Call& call);
// The same of an agent: its template, or that of the run that it still has.
std::optional<kernel::AgentTemplate> find_agent(const ApiContext& context, const Call& call);

// Handlers, by file.
void post_run(const ApiContext& context, const Call& call);  // run_routes.cpp
void get_runs(const ApiContext& context, const Call& call);
void get_run(const ApiContext& context, const Call& call);
void delete_run(const ApiContext& context, const Call& call);
void post_stdin(const ApiContext& context, const Call& call);
void post_plan(const ApiContext& context, const Call& call);
void get_profiles(const ApiContext& context, const Call& call);  // catalog_routes.cpp
void get_profile(const ApiContext& context, const Call& call);
void post_reload(const ApiContext& context, const Call& call);
void get_agents(const ApiContext& context, const Call& call);  // agent_routes.cpp
void get_agent(const ApiContext& context, const Call& call);
void start_agent(const ApiContext& context, const Call& call);
void stop_agent(const ApiContext& context, const Call& call);
void restart_agent(const ApiContext& context, const Call& call);
void get_agent_logs(const ApiContext& context, const Call& call);
void get_budget(const ApiContext& context, const Call& call);  // budget_routes.cpp
void grant_budget(const ApiContext& context, const Call& call);
void get_host(const ApiContext& context, const Call& call);  // host_routes.cpp
void get_doctor(const ApiContext& context, const Call& call);
void get_health(const ApiContext& context, const Call& call);
void get_healthz(const ApiContext& context, const Call& call);  // telemetry_routes.cpp
void get_readyz(const ApiContext& context, const Call& call);
void get_metrics(const ApiContext& context, const Call& call);
void get_explanation(const ApiContext& context, const Call& call);
void get_events(const ApiContext& context, const Call& call);
void post_drain(const ApiContext& context, const Call& call);
void delete_drain(const ApiContext& context, const Call& call);
void post_verify(const ApiContext& context, const Call& call);  // verify_routes.cpp
void get_feed(const ApiContext& context, const Call& call);     // feed_routes.cpp
void get_key(const ApiContext& context, const Call& call);      // key_routes.cpp
void post_key(const ApiContext& context, const Call& call);
void post_run_code(const ApiContext& context, const Call& call);        // fusion_routes.cpp
void get_piston_runtimes(const ApiContext& context, const Call& call);  // piston_routes.cpp
void post_piston_execute(const ApiContext& context, const Call& call);
void post_rlox_verify(const ApiContext& context, const Call& call);  // rlox_routes.cpp

}  // namespace paddock::supervisor
