#include "supervisor/api/api.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

#include "supervisor/api/errors.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/http/peer_namespace.hpp"

namespace paddock::supervisor {
namespace {

struct Route {
  std::string_view method;
  std::string_view path;  // "*" stands for one segment: the call's id
  void (*handler)(const ApiContext&, const Call&);
};

constexpr std::array<Route, 18> routes = {{
    {"POST", "/v1/runs", post_run},
    {"GET", "/v1/runs", get_runs},
    {"GET", "/v1/runs/*", get_run},
    {"DELETE", "/v1/runs/*", delete_run},
    {"POST", "/v1/runs/*/stdin", post_stdin},
    {"POST", "/v1/plan", post_plan},
    {"GET", "/v1/profiles", get_profiles},
    {"GET", "/v1/profiles/*", get_profile},
    {"GET", "/v1/agents", get_agents},
    {"GET", "/v1/agents/*", get_agent},
    {"POST", "/v1/agents/*/start", start_agent},
    {"POST", "/v1/agents/*/stop", stop_agent},
    {"POST", "/v1/agents/*/restart", restart_agent},
    {"GET", "/v1/agents/*/logs", get_agent_logs},
    {"POST", "/v1/reload", post_reload},
    {"GET", "/v1/host", get_host},
    {"GET", "/v1/doctor", get_doctor},
    {"GET", "/health", get_health},
}};
// The trainer's socket will have verify and feed; until then it says that it is there.
constexpr std::array<Route, 1> trainer_routes = {{{"GET", "/health", get_health}}};

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

void dispatch(std::span<const Route> table, const ApiContext& context, HttpRequest request,
              const Exchange& exchange) {
  const Peer& peer = exchange.peer();
  if (!shares_user_namespace(peer.pid, peer.uid))
    return respond_error(
        exchange, {kernel::ErrorCode::forbidden, "a process inside a run may not use this socket"});
  Call call{std::move(request), exchange, {}};
  std::string allowed;
  for (const Route& route : table) {
    if (!matches(route.path, call.request.path, call.id)) continue;
    if (route.method == call.request.method) return route.handler(context, call);
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
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

void respond_json(const Exchange& exchange, int status, std::string body) {
  exchange.respond({.status = status,
                    .content_type = "application/json",
                    .body = std::move(body),
                    .headers = {}});
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
