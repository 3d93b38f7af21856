// One file of agents/ to an AgentTemplate. What its long-running run has is in
// parse_agent_life.cpp.

#include <fmt/format.h>

#include "kernel/policy/environment.hpp"
#include "kernel/policy/names.hpp"
#include "kernel/policy/parse.hpp"
#include "kernel/policy/parse_agent_life.hpp"
#include "kernel/policy/paths.hpp"
#include "kernel/policy/request.hpp"

namespace paddock::kernel {
namespace {

void read_profile_name(TomlReader& reader, AgentTemplate& agent) {
  const bool present = reader.has("", "profile");
  agent.profile = reader.text("", "profile").value_or("");
  if (!present) {
    reader.report({1, 1}, "profile is missing: an agent says which profile it runs under");
  } else if (!agent.profile.empty() && !is_name(agent.profile)) {
    reader.report(
        reader.place("", "profile"),
        fmt::format("profile '{}' is not of the form [A-Za-z0-9_-]{{1,64}}", agent.profile));
  }
}

void read_command(TomlReader& reader, AgentTemplate& agent) {
  const bool present = reader.has("", "command");
  const auto command = reader.text_list("", "command");
  if (!present) {
    reader.report({1, 1}, "command is missing: write [\"program\", \"argument\"]");
  }
  if (!command) return;
  agent.command = *command;
  if (agent.command.empty() || agent.command.front().empty()) {
    reader.report(reader.place("", "command"), "command names no program");
  } else if (agent.command.size() > argv_entries_max) {
    reader.report(reader.place("", "command"), fmt::format("command has {} entries, at most {}",
                                                           agent.command.size(), argv_entries_max));
  }
}

void read_workdir(TomlReader& reader, AgentTemplate& agent) {
  const auto workdir = reader.text("", "workdir");
  if (!workdir) return;
  agent.workdir = *workdir;
  if (const std::string mistake = path_form_mistake(*workdir); !mistake.empty()) {
    reader.report(reader.place("", "workdir"), fmt::format("workdir '{}' {}", *workdir, mistake));
  }
}

void read_environment(TomlReader& reader, AgentTemplate& agent) {
  agent.environment = reader.text_map("environment", "set");
  for (const auto& [name, value] : agent.environment) {
    if (const auto checked = check_environment_name("environment", name); !checked) {
      reader.report(reader.place_of_entry("environment", "set", std::string_view(name)),
                    checked.error().message);
    }
  }
}

}  // namespace

ParsedAgent read_agent(std::string_view text, const std::string& file,
                       std::vector<Diagnostic>& diagnostics) {
  ParsedAgent parsed;
  const std::size_t begin = diagnostics.size();
  std::optional<TomlReader> reader = TomlReader::parse(text, file, diagnostics);
  if (!reader) return parsed;

  AgentTemplate& agent = parsed.agent;
  agent.source = file;
  agent.name = read_name(*reader);
  agent.description = read_description(*reader);
  read_profile_name(*reader, agent);
  read_command(*reader, agent);
  read_workdir(*reader, agent);
  read_environment(*reader, agent);
  read_agent_life(*reader, agent);
  reader->report_unknown_keys();

  parsed.name_place = reader->place("", "name");
  parsed.profile_place = reader->place("", "profile");
  parsed.valid = diagnostics.size() == begin;
  sort_by_place(diagnostics, begin);
  return parsed;
}

}  // namespace paddock::kernel
