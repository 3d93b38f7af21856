// Goal: an agent's file is a valid template, or what is wrong with it is said. Method: what is
// accepted is printed as TOML and must be read as the same template again.

#include "fuzz/property.hpp"
#include "fuzz/toml_text.hpp"
#include "kernel/policy/choices.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/policy/names.hpp"
#include "kernel/policy/units.hpp"

using namespace paddock;
using namespace paddock::kernel;
using fuzz::must_hold;
using fuzz::quoted;

namespace {

std::string line(const char* key, const std::string& value) {
  return std::string(key) + " = " + value + "\n";
}

std::string line(const char* key, std::chrono::milliseconds value) {
  return line(key, quoted(format_duration(value)));
}

std::string printed(const RestartRules& restart) {
  return "[restart]\n" + line("policy", quoted(name_of(restart.policy))) +
         line("max_restarts", std::to_string(restart.max_restarts)) +
         line("backoff_seconds", restart.backoff) +
         line("backoff_max_seconds", restart.backoff_max) +
         line("jitter", fmt::format("{}", restart.jitter)) + line("reset_seconds", restart.reset) +
         line("stop_seconds", restart.stop);
}

// What its long-running run has in place of the profile's.
std::string printed_limits(const AgentTemplate& agent) {
  return "[limits]\n" +
         (agent.wall_clock ? line("wall_seconds", *agent.wall_clock)
                           : line("wall_seconds", quoted("unlimited"))) +
         line("cpu_seconds",
              agent.cpu_seconds ? std::to_string(*agent.cpu_seconds) : quoted("unlimited"));
}

std::string printed(const AgentTemplate& agent) {
  std::string text =
      "name = " + quoted(agent.name) + "\ndescription = " + quoted(agent.description) +
      "\nprofile = " + quoted(agent.profile) + "\ncommand = " + quoted(agent.command) + "\n";
  if (!agent.workdir.empty()) text += "workdir = " + quoted(agent.workdir) + "\n";
  if (!agent.tenant.empty()) text += line("tenant", quoted(agent.tenant));
  text += line("protocol", quoted(name_of(agent.protocol))) +
          line("autostart", agent.autostart ? "true" : "false") +
          line("workspace", quoted(name_of(agent.workspace))) +
          "[environment]\nset = " + quoted(agent.environment) + "\n" + printed_limits(agent) +
          printed(agent.restart) + "[log]\n" +
          line("bytes", quoted(format_bytes(agent.log.bytes))) +
          line("files", std::to_string(agent.log.files)) + "[budget]\n";
  for (const auto& [dimension, limit] : agent.budget)
    text += line(dimension.c_str(), std::to_string(limit));
  return text;
}

void check_bounds(const AgentTemplate& agent) {
  must_hold(is_name(agent.name) && is_name(agent.profile), "it and its profile have names");
  must_hold(agent.tenant.empty() || is_name(agent.tenant), "its tenant, if any, has a name");
  must_hold(!agent.command.empty() && !agent.command.front().empty(), "it has a command");
  const RestartRules& restart = agent.restart;
  must_hold(restart.backoff.count() >= 1 && restart.backoff_max >= restart.backoff,
            "it waits before it is restarted");
  must_hold(restart.jitter >= 0 && restart.jitter <= 1, "no wait becomes negative");
  must_hold(restart.stop.count() >= 1 && restart.stop <= std::chrono::hours(1),
            "it is stopped in the end");
  for (const auto& [dimension, limit] : agent.budget)
    must_hold(is_dimension(dimension) && limit >= 1 && limit <= budget_amount_max,
              "a budget is an amount of a dimension", dimension);
  must_hold(agent.log.bytes >= 1 && agent.log.files >= 1, "its log has room");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<Diagnostic> diagnostics;
  const auto agent = parse_agent(fuzz::as_text(data, size), "fuzz.toml", diagnostics);
  must_hold(agent.has_value() == diagnostics.empty(), "a template, or what is wrong with it");
  if (!agent) return 0;
  check_bounds(*agent);
  const std::string toml = printed(*agent);
  const auto again = parse_agent(toml, "fuzz.toml", diagnostics);
  must_hold(again.has_value(), "a printed template is one",
            diagnostics.empty() ? toml : to_string(diagnostics[0]) + "\n" + toml);
  must_hold(*again == *agent, "a printed template is read as itself", toml);
  return 0;
}
