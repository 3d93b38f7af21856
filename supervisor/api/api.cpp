#include "supervisor/api/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "kernel/policy/names.hpp"
#include "supervisor/api/errors.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/http/peer_namespace.hpp"

namespace paddock::supervisor {
namespace {

struct Route {
  std::string_view method;
  std::string_view path;     // "*" stands for one segment: the call's id
  std::optional<Verb> verb;  // that the caller must have; none: everybody who is let in
  void (*handler)(const ApiContext&, const Call&);
  std::string_view parameters{};  // of the query string, with spaces between them
};

constexpr std::optional<Verb> everybody;
constexpr std::array routes = {
    Route{"POST", "/v1/runs", Verb::run, post_run},
    Route{"GET", "/v1/runs", Verb::read, get_runs, "limit state"},
    Route{"GET", "/v1/runs/*", Verb::read, get_run, "wait_seconds"},
    Route{"DELETE", "/v1/runs/*", Verb::kill, delete_run},
    Route{"POST", "/v1/runs/*/stdin", Verb::run, post_stdin, "close"},
    Route{"GET", "/v1/runs/*/explain", Verb::read, get_explanation},
    Route{"POST", "/v1/plan", Verb::run, post_plan},
    Route{"GET", "/v1/profiles", Verb::read, get_profiles},
    Route{"GET", "/v1/profiles/*", Verb::read, get_profile},
    Route{"GET", "/v1/agents", Verb::read, get_agents},
    Route{"GET", "/v1/agents/*", Verb::read, get_agent},
    Route{"POST", "/v1/agents/*/start", Verb::agent, start_agent, "wait_seconds"},
    Route{"POST", "/v1/agents/*/stop", Verb::agent, stop_agent, "wait_seconds"},
    Route{"POST", "/v1/agents/*/restart", Verb::agent, restart_agent, "wait_seconds"},
    Route{"GET", "/v1/agents/*/logs", Verb::agent, get_agent_logs, "lines follow"},
    Route{"GET", "/v1/agents/*/budget", Verb::read, get_budget},
    Route{"POST", "/v1/agents/*/budget/grant", Verb::budget, grant_budget},
    Route{"POST", "/v1/reload", Verb::operate, post_reload},
    Route{"POST", "/v1/drain", Verb::operate, post_drain},
    Route{"DELETE", "/v1/drain", Verb::operate, delete_drain},
    Route{"GET", "/v1/events", Verb::read, get_events, "after follow kind limit"},
    Route{"POST", "/v1/verify", Verb::verify, post_verify},
    Route{"GET", "/v1/feed", Verb::verify, get_feed, "after follow limit kind advantages"},
    Route{"GET", "/v1/keys", Verb::operate, get_key, "tenant"},
    Route{"POST", "/v1/keys", Verb::operate, post_key},
    Route{"GET", "/v1/host", Verb::read, get_host},
    Route{"GET", "/v1/doctor", Verb::read, get_doctor},
    Route{"GET", "/metrics", Verb::operate, get_metrics},
    Route{"GET", "/health", everybody, get_health},
    Route{"GET", "/healthz", everybody, get_healthz},
    Route{"GET", "/readyz", everybody, get_readyz},
    Route{"POST", "/verify", Verb::verify, post_rlox_verify},
    Route{"POST", "/run_code", Verb::run, post_run_code},
    Route{"GET", "/api/v2/runtimes", Verb::run, get_piston_runtimes},
    Route{"POST", "/api/v2/execute", Verb::run, post_piston_execute},
};
// All that a trainer may ask for, and a client on TCP, whom the kernel does not know.
constexpr std::array trainer_routes = {
    Route{"POST", "/v1/verify", Verb::verify, post_verify},
    Route{"GET", "/v1/feed", Verb::verify, get_feed, "after follow limit kind advantages"},
    Route{"GET", "/health", everybody, get_health},
    Route{"POST", "/verify", Verb::verify, post_rlox_verify},
    Route{"POST", "/run_code", Verb::run, post_run_code},
    Route{"GET", "/api/v2/runtimes", Verb::run, get_piston_runtimes},
    Route{"POST", "/api/v2/execute", Verb::run, post_piston_execute},
};

// True if `path` has the form of `pattern`; then `id` is what stood for "*".
bool matches(std::string_view pattern, std::string_view path, std::string& id) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == path;
  const std::string_view head = pattern.substr(0, star);
  const std::string_view tail = pattern.substr(star + 1);
  if (path.size() <= head.size() + tail.size()) return false;
  if (!path.starts_with(head) || !path.ends_with(tail)) return false;
  const std::string_view middle = path.substr(head.size(), path.size() - head.size() - tail.size());
  if (middle.find('/') != std::string_view::npos) return false;
  id = middle;
  return true;
}

kernel::Error missing_verb(const Caller& caller, Verb verb) {
  return {kernel::ErrorCode::forbidden,
          fmt::format("tenant '{}' does not have the verb '{}'", caller.tenant, name_of(verb))};
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    words.emplace_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

// A parameter that nobody reads would be a wish that is lost in silence.
kernel::Result<void> check_parameters(const Route& route, const HttpRequest& request) {
  const std::vector<std::string> known = words_in(route.parameters);
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = kernel::nearest_name(name, known);
    std::string message = fmt::format("unknown query parameter '{}'", name);
    if (!nearest.empty()) {
      message += fmt::format("; did you mean '{}'?", nearest);
    } else if (known.empty()) {
      message += "; this call has none";
    } else {
      message += fmt::format("; this call has {}", kernel::quoted_list(known));
    }
    return kernel::fail(kernel::ErrorCode::invalid_request, std::move(message));
  }
  return {};
}

void dispatch(std::span<const Route> table, const ApiContext& context, HttpRequest request,
              const Exchange& exchange) {
  const Peer& peer = exchange.peer();
  // On TCP it is the token that says so: an agent does not have it.
  if (!peer.over_tcp && !shares_user_namespace(peer.pid, peer.uid))
    return respond_error(
        exchange, {kernel::ErrorCode::forbidden, "a process inside a run may not use this socket"});
  auto caller = caller_now(context, exchange);
  if (!caller) return respond_error(exchange, caller.error());
  Call call{std::move(request), exchange, std::move(*caller), {}};
  std::string allowed;
  for (const Route& route : table) {
    if (!matches(route.path, call.request.path, call.id)) continue;
    if (route.method != call.request.method) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    // The one place that asks for a verb.
    if (route.verb && !call.caller.may(*route.verb))
      return respond_error(exchange, missing_verb(call.caller, *route.verb));
    if (const auto checked = check_parameters(route, call.request); !checked)
      return respond_error(exchange, checked.error());
    return route.handler(context, call);
  }
  const std::string what = fmt::format("{} {}", call.request.method, call.request.path);
  if (allowed.empty())
    return respond_error(exchange, {kernel::ErrorCode::not_found, "no such call: " + what});
  exchange.respond({.status = 405,
                    .content_type = "application/json",
                    .body = error_to_json(
                        {kernel::ErrorCode::invalid_request, what + ": this path has " + allowed}),
                    .headers = {{"Allow", allowed}}});
}

}  // namespace

void Api::handle(HttpRequest request, const Exchange& exchange) {
  dispatch(routes, context_, std::move(request), exchange);
}

void Api::handle_trainer(HttpRequest request, const Exchange& exchange) {
  dispatch(trainer_routes, context_, std::move(request), exchange);
}

kernel::Error access_revoked() {
  return {kernel::ErrorCode::forbidden, "a reload has taken the right to this stream"};
}

kernel::Result<Caller> caller_now(const ApiContext& context, const Exchange& exchange) {
  const Peer& peer = exchange.peer();
  if (peer.over_tcp) {
    std::set<std::string> profiles;
    for (const auto& [name, runtime] : context.config_store.runtimes())
      if (!runtime.profile.empty()) profiles.insert(runtime.profile);
    return tcp_caller(context.tcp, context.config_store.access(), profiles);
  }
  return caller_of({.uid = peer.uid, .gids = peer.gids}, context.config_store.access(),
                   context.known_uids);
}

void open_event_stream(const ApiContext& context, const Call& call, EventQuery query, Verb verb,
                       EventLine line) {
  query.tenant.reset();
  if (!call.caller.sees_all) query.tenant = call.caller.tenant;
  const auto is_allowed = [&context, exchange = call.exchange, tenant = query.tenant, verb,
                           changes = context.tcp.token_changes] {
    if (exchange.peer().over_tcp && changes != context.tcp.token_changes) return false;
    const auto caller = caller_now(context, exchange);
    return caller && caller->may(verb) &&
           (caller->sees_all || (tenant && *tenant == caller->tenant));
  };
  const auto stream = context.events.open(call.exchange, std::move(query), std::move(line));
  context.open_streams.add(call.exchange, is_allowed, [stream] {
    if (const auto open = stream.lock()) open->end(access_revoked());
  });
}

void respond_json(const Exchange& exchange, int status, std::string body) {
  exchange.respond({.status = status,
                    .content_type = "application/json",
                    .body = std::move(body),
                    .headers = {}});
}

const RunRecord* find_run(const ApiContext& context, const Call& call) {
  const RunRecord* run = context.runs.find(call.id);
  if (run != nullptr && call.caller.sees(run->tenant)) return run;
  respond_error(call.exchange, {kernel::ErrorCode::not_found, "no run '" + call.id + "'"});
  return nullptr;
}

void respond_error(const Exchange& exchange, const kernel::Error& error,
                   const std::vector<kernel::Diagnostic>& diagnostics) {
  Response response{.status = http_status(error.code),
                    .content_type = "application/json",
                    .body = error_to_json(error, diagnostics),
                    .headers = {}};
  if (response.status == 429) response.headers.emplace_back("Retry-After", "1");
  exchange.respond(std::move(response));
}

}  // namespace paddock::supervisor
