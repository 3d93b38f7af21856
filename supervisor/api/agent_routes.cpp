// Long-running agents: looked at, started, stopped, and their logs.

#include <memory>

#include <fmt/format.h>

#include "supervisor/api/admission.hpp"
#include "supervisor/api/api.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/api/query.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::Result;

constexpr unsigned log_lines_if_not_said = 100;

// Also of one that has gone since it was asked for.
AgentNow now_of(const AgentTable& agents, const BudgetBook& budgets, const std::string& name) {
  const Budget* budget = budgets.find(name);
  return {.status = agents.status(name).value_or(AgentStatus{}),
          .budget = budget == nullptr ? Budget() : *budget};
}

AgentView view_of(const ApiContext& context, const kernel::AgentTemplate& agent) {
  return {.agent = agent, .now = now_of(context.agents, context.budgets, agent.name)};
}

// Also of one that is in no catalog any more and still runs.
std::optional<kernel::AgentTemplate> template_of(const ApiContext& context,
                                                 const std::string& name) {
  std::optional<kernel::AgentTemplate> found;
  const auto& agents = context.config_store.catalog().agents;
  if (const auto at = agents.find(name); at != agents.end()) found = at->second;
  for (const kernel::AgentTemplate& agent : context.agents.removed())
    if (agent.name == name) found = agent;
  return found;
}

bool is_settled(const AgentStatus& status) {
  return status.state != AgentState::starting && status.state != AgentState::stopping;
}

// ---- Asking for something ----------------------------------------------------------------------

// Answers with the status once it has settled, or when the time is up.
void answer_within(const ApiContext& context, const Call& call, int http_status, bool recorded,
                   std::chrono::seconds limit) {
  const auto timer = std::make_shared<Timer>(context.loop);
  const auto observer = std::make_shared<AgentTable::ObserverId>(0);
  const auto answer = [&agents = context.agents, &budgets = context.budgets,
                       exchange = call.exchange, name = call.id, http_status, recorded, observer] {
    agents.unobserve(*observer);
    respond_json(exchange, http_status,
                 agent_status_to_json(name, now_of(agents, budgets, name), recorded));
  };
  // The observer owns the timer, so neither outlives the other.
  *observer = context.agents.observe(call.id, [timer, answer](const AgentStatus& status) {
    if (!is_settled(status)) return;
    timer->stop();
    answer();
  });
  timer->start(limit, answer);
  call.exchange.on_client_gone(
      [&agents = context.agents, observer] { agents.unobserve(*observer); });
}

using Ask = void (AgentTable::*)(const std::string& name, const AgentTable::OnAnswer& on_answer);

void ask_agent(const ApiContext& context, const Call& call, Ask ask) {
  if (!find_agent(context, call)) return;
  const auto wait = query_number(call.request, "wait_seconds", wait_seconds_max);
  if (!wait) return respond_error(call.exchange, wait.error());
  (context.agents.*ask)(
      call.id, [&context, call, seconds = wait->value_or(0)](const Result<AgentAnswer>& answer) {
        if (!answer) return respond_error(call.exchange, answer.error());
        const int http_status = answer->changed ? 202 : 200;
        const auto status = context.agents.status(call.id);
        if (seconds > 0 && status && !is_settled(*status))
          return answer_within(context, call, http_status, answer->recorded,
                               std::chrono::seconds(seconds));
        respond_json(call.exchange, http_status,
                     agent_status_to_json(call.id, now_of(context.agents, context.budgets, call.id),
                                          answer->recorded));
      });
}

// ---- Logs --------------------------------------------------------------------------------------

std::string joined(const AgentLog::Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

const StreamHead ndjson{.status = 200, .content_type = "application/x-ndjson", .headers = {}};

void answer_with_tail(AgentLog& log, const Exchange& exchange, std::size_t lines_max) {
  log.tail(lines_max, [exchange](const Result<AgentLog::Lines>& lines) {
    if (!lines) return respond_error(exchange, lines.error());
    exchange.begin_stream(ndjson);
    if (!lines->empty()) exchange.write(joined(*lines));
    exchange.end();
  });
}

// A reader that does not keep up misses lines, and is told how many: neither the agent nor the
// daemon's memory has to wait for it.
void follow(const ApiContext& context, AgentLog& log, const Call& call, std::size_t lines_max) {
  struct Reader {
    FollowerId id = 0;
    bool is_full = false;
    std::size_t skipped = 0;
  };
  const Exchange& exchange = call.exchange;
  const auto reader = std::make_shared<Reader>();
  exchange.begin_stream(ndjson);
  reader->id = log.follow(lines_max, [&log, exchange, reader](const AgentLog::Lines& lines) {
    if (reader->is_full) {
      reader->skipped += lines.size();
      return;
    }
    if (lines.empty()) return;
    const WriteResult result = exchange.write(joined(lines));
    if (result == WriteResult::gone) log.unfollow(reader->id);
    reader->is_full = result == WriteResult::full;
  });
  exchange.on_drained([exchange, reader] {
    reader->is_full = false;
    if (const std::size_t skipped = std::exchange(reader->skipped, 0); skipped > 0)
      reader->is_full =
          exchange.write(paddock_line_to_json(fmt::format(
              "{} lines left out: this reader is too slow", skipped))) == WriteResult::full;
  });
  exchange.on_client_gone([&log, reader] { log.unfollow(reader->id); });
  const auto is_allowed = [&context, exchange, name = call.id] {
    const auto caller = caller_now(context, exchange);
    if (!caller || !caller->may(Verb::agent)) return false;
    const auto agent = template_of(context, name);
    return agent ? caller->sees(agent->tenant) : caller->sees_all;
  };
  context.open_streams.add(exchange, is_allowed, [&log, exchange, reader] {
    log.unfollow(reader->id);
    exchange.write(paddock_line_to_json(access_revoked().message));
    exchange.end();
  });
}

}  // namespace

std::optional<kernel::AgentTemplate> find_agent(const ApiContext& context, const Call& call) {
  auto found = template_of(context, call.id);
  if (found && call.caller.sees(found->tenant)) return found;
  respond_error(call.exchange, unknown_agent(context.config_store.catalog(), call.caller, call.id));
  return std::nullopt;
}

void get_agents(const ApiContext& context, const Call& call) {
  std::vector<AgentView> views;
  const auto add = [&](const kernel::AgentTemplate& agent) {
    if (call.caller.sees(agent.tenant)) views.push_back(view_of(context, agent));
  };
  for (const auto& [name, agent] : context.config_store.catalog().agents) add(agent);
  for (const kernel::AgentTemplate& agent : context.agents.removed()) add(agent);
  respond_json(call.exchange, 200, agents_to_json(views));
}

void get_agent(const ApiContext& context, const Call& call) {
  if (const auto agent = find_agent(context, call))
    respond_json(call.exchange, 200, agent_to_json(view_of(context, *agent)));
}

void start_agent(const ApiContext& context, const Call& call) {
  ask_agent(context, call, &AgentTable::start);
}

void stop_agent(const ApiContext& context, const Call& call) {
  ask_agent(context, call, &AgentTable::stop);
}

void restart_agent(const ApiContext& context, const Call& call) {
  ask_agent(context, call, &AgentTable::restart);
}

void get_agent_logs(const ApiContext& context, const Call& call) {
  if (!find_agent(context, call)) return;
  const auto lines = query_number(call.request, "lines", log_lines_max);
  if (!lines) return respond_error(call.exchange, lines.error());
  const auto follows = query_truth(call.request, "follow");
  if (!follows) return respond_error(call.exchange, follows.error());
  AgentLog* log = context.agents.log(call.id);
  if (log == nullptr) return respond_error(call.exchange, no_agent(call.id));
  const std::size_t lines_max = lines->value_or(log_lines_if_not_said);
  if (*follows) return follow(context, *log, call, lines_max);
  answer_with_tail(*log, call.exchange, lines_max);
}

}  // namespace paddock::supervisor
