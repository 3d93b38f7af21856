#include "supervisor/cli/top_text.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "kernel/policy/units.hpp"
#include "supervisor/cli/age.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/table.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::readable_bytes;
using kernel::Result;
using nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr const char* unknown = "-";

std::string cpu_time(std::uint64_t us) {
  const double seconds = static_cast<double>(us) / 1e6;
  if (seconds < 100) return fmt::format("{:.2f}s", seconds);
  if (seconds < 6000) return fmt::format("{:.1f}m", seconds / 60);
  return fmt::format("{:.1f}h", seconds / 3600);
}

Result<std::string> daemon_line(std::string_view answer) {
  return render<std::string>(answer, [](const ordered_json& json) {
    std::string text = fmt::format(
        "paddock: {}, {} alive, {} queued", json.at("status").get<std::string>(),
        json.at("runs_alive").get<std::size_t>(), json.at("runs_queued").get<std::size_t>());
    if (const auto refused = json.at("profiles_refused").get<std::size_t>(); refused > 0)
      text +=
          fmt::format(", {} profile{} refused (paddock doctor)", refused, refused == 1 ? "" : "s");
    text = printable(text) + "\n";
    if (json.contains("warm")) {
      const ordered_json& warm = json["warm"];
      text +=
          fmt::format("warm: {} ready, {} busy, {} starting\n", warm.at("ready").get<std::size_t>(),
                      warm.at("busy").get<std::size_t>(), warm.at("starting").get<std::size_t>());
    }
    if (const std::string ledger = json.value("ledger", "writing"); ledger != "writing")
      text += "LEDGER NOT WRITTEN: " + printable(ledger) + "\n";
    if (json.at("config_stale").get<bool>())
      text += "CONFIG STALE: the last reload failed, older files are in force (paddock reload)\n";
    return text;
  });
}

std::vector<std::string> run_row(const ordered_json& run, std::time_t now) {
  std::string cpu = unknown;
  std::string memory = unknown;
  if (run.contains("usage")) {
    const ordered_json& usage = run["usage"];
    const char* at_least = usage.at("complete").get<bool>() ? "" : ">";
    cpu = at_least + cpu_time(usage.at("cpu_us").get<std::uint64_t>());
    memory = at_least + readable_bytes(usage.at("memory_bytes").get<std::uint64_t>());
  }
  const std::string agent = run.at("agent").is_string() ? run["agent"].get<std::string>() : unknown;
  return {run.at("id").get<std::string>(),
          run.at("profile").get<std::string>(),
          agent,
          age_of(run.at("created_at").get<std::string>(), now),
          cpu,
          memory,
          shell_line(run.at("argv").get<std::vector<std::string>>())};
}

Result<std::string> runs_table(std::string_view answer, std::time_t now) {
  return render<std::string>(answer, [&](const ordered_json& json) {
    Rows rows = {{"RUN", "PROFILE", "AGENT", "AGE", "CPU", "MEMORY", "COMMAND"}};
    for (const ordered_json& run : json.at("runs")) rows.push_back(run_row(run, now));
    return table(rows);
  });
}

// The dimension that is nearest to its end: "tokens 93%".
std::string budget_text(const ordered_json& dimensions) {
  std::string text = unknown;
  double most = -1;
  for (const auto& [name, dimension] : dimensions.items()) {
    if (dimension.at("limit").is_null()) continue;
    const auto limit = dimension["limit"].get<double>();
    const double share = limit > 0 ? dimension.at("used").get<double>() / limit : 1;
    if (share <= most) continue;
    most = share;
    text = fmt::format("{} {:.0f}%", name, share * 100);
  }
  return text;
}

using Budgets = std::map<std::string, std::string>;  // agent -> text

Result<Budgets> budgets_in(const std::vector<std::string>& answers) {
  Budgets budgets;
  for (const std::string& answer : answers) {
    TRY(render<bool>(answer, [&](const ordered_json& json) {
      budgets[json.at("agent").get<std::string>()] = budget_text(json.at("dimensions"));
      return true;
    }));
  }
  return budgets;
}

// Templates that were never started have no status worth a line.
Result<std::string> agents_table(std::string_view answer, const Budgets& budgets) {
  return render<std::string>(answer, [&](const ordered_json& json) {
    Rows rows = {{"AGENT", "STATE", "RUN", "RESTARTS", "BUDGET"}};
    for (const ordered_json& agent : json.at("agents")) {
      if (!agent.contains("status")) continue;
      const ordered_json& status = agent["status"];
      const auto name = agent.at("name").get<std::string>();
      const auto budget = budgets.find(name);
      const bool has_run = status.contains("run") && status["run"].is_string();
      rows.push_back({name, status.at("state").get<std::string>(),
                      has_run ? status["run"].get<std::string>() : unknown,
                      fmt::format("{}", status.at("restarts").get<std::uint64_t>()),
                      budget == budgets.end() ? unknown : budget->second});
    }
    return rows.size() == 1 ? std::string() : table(rows);
  });
}

// By characters, of which one may be several bytes.
std::string cut(std::string_view line, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xC0u) != 0x80u;
    if (begins && ++characters > columns) return std::string(line.substr(0, i));
  }
  return std::string(line);
}

std::string fit(std::string_view text, TopRoom room) {
  std::string fitted;
  std::size_t lines = 0;
  while (!text.empty() && (room.lines == 0 || lines < room.lines)) {
    const std::string_view line = text.substr(0, text.find('\n'));
    fitted += cut(line, room.columns) + "\n";
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++lines;
  }
  return fitted;
}

}  // namespace

Result<std::vector<std::string>> agents_with_status(std::string_view agents) {
  return render<std::vector<std::string>>(agents, [](const ordered_json& json) {
    std::vector<std::string> names;
    for (const ordered_json& agent : json.at("agents"))
      if (agent.contains("status")) names.push_back(agent.at("name").get<std::string>());
    return names;
  });
}

Result<std::string> top_text(const TopAnswers& answers, TopRoom room, std::time_t now) {
  std::string text = TRY(daemon_line(answers.health));
  const Budgets budgets = TRY(budgets_in(answers.budgets));
  const std::string agents = TRY(agents_table(answers.agents, budgets));
  if (!agents.empty()) text += "\n" + agents;
  text += "\n" + TRY(runs_table(answers.runs, now));
  return fit(text, room);
}

}  // namespace paddock::supervisor::cli
