// `paddock agent list | status | start | stop | restart`.

#include <fmt/format.h>

#include "supervisor/cli/agent_text.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;

// For a start that settles, a stop that is obeyed late, and what the daemon needs besides. The
// client itself waits for answer_time_max.
constexpr int wait_seconds = 20;

Result<Client> connect(const Options& options) {
  if (!options.agent.empty()) TRY_VOID(check_agent_name(options.agent));
  return require_daemon(options.global, "agent");
}

Result<std::string> list_agents(const Options& options) {
  Client client = TRY(connect(options));
  std::string answer = TRY(ask(client, "GET", "/v1/agents"));
  return options.json ? answer : agent_list_text(answer);
}

// Exit code and text of an agent's status.
int end_with_status(const Result<AgentText>& text) {
  if (!text) return complain_and_exit_code(text.error());
  if (!print(text->text)) return exit_error;
  return text->state == "failed" ? exit_run_failed : exit_success;
}

Result<AgentText> status(const Options& options) {
  Client client = TRY(connect(options));
  const std::string answer = TRY(ask(client, "GET", "/v1/agents/" + options.agent));
  AgentText text = TRY(agent_status_text(answer));
  if (options.json) text.text = answer;
  return text;
}

Result<AgentText> tell(const Options& options, const std::string& verb) {
  Client client = TRY(connect(options));
  const std::string target =
      fmt::format("/v1/agents/{}/{}?wait_seconds={}", options.agent, verb, wait_seconds);
  return agent_status_text(TRY(ask(client, "POST", target)));
}

}  // namespace

int agent_list_command(const Options& options) {
  return end_with(list_agents(options));
}

int agent_status_command(const Options& options) {
  return end_with_status(status(options));
}

int agent_start_command(const Options& options) {
  return end_with_status(tell(options, "start"));
}

int agent_stop_command(const Options& options) {
  return end_with_status(tell(options, "stop"));
}

int agent_restart_command(const Options& options) {
  return end_with_status(tell(options, "restart"));
}

}  // namespace paddock::supervisor::cli
