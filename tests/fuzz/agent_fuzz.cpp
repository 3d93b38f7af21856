// Goal: an agent's file is a valid template, or what is wrong with it is said. Method: what is
// accepted is printed as TOML and must be read as the same template again.

#include "fuzz/property.hpp"
#include "fuzz/toml_text.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/policy/names.hpp"

using namespace paddock;
using namespace paddock::kernel;
using fuzz::must_hold;
using fuzz::quoted;

namespace {

std::string printed(const AgentTemplate& agent) {
  std::string text =
      "name = " + quoted(agent.name) + "\ndescription = " + quoted(agent.description) +
      "\nprofile = " + quoted(agent.profile) + "\ncommand = " + quoted(agent.command) + "\n";
  if (!agent.workdir.empty()) text += "workdir = " + quoted(agent.workdir) + "\n";
  return text + "[environment]\nset = " + quoted(agent.environment) + "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<Diagnostic> diagnostics;
  const auto agent = parse_agent(fuzz::as_text(data, size), "fuzz.toml", diagnostics);
  must_hold(agent.has_value() == diagnostics.empty(), "a template, or what is wrong with it");
  if (!agent) return 0;
  must_hold(is_name(agent->name) && is_name(agent->profile), "it and its profile have names");
  must_hold(!agent->command.empty() && !agent->command.front().empty(), "it has a command");
  const std::string toml = printed(*agent);
  const auto again = parse_agent(toml, "fuzz.toml", diagnostics);
  must_hold(again.has_value(), "a printed template is one",
            diagnostics.empty() ? toml : to_string(diagnostics[0]) + "\n" + toml);
  must_hold(*again == *agent, "a printed template is read as itself", toml);
  return 0;
}
