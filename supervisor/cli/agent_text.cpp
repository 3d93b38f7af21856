#include "supervisor/cli/agent_text.hpp"

#include <fmt/format.h>

#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/table.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/json/bytes.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;
using nlohmann::ordered_json;

// "exited 1", "signaled", "-"
std::string end_of(const ordered_json& status) {
  const ordered_json& end = status.at("last_end");
  if (end.is_null()) return "-";
  std::string text = end.at("cause").get<std::string>();
  if (text == "exited") text += fmt::format(" {}", end.at("exit_code").get<int>());
  if (!end.at("exit_kind").is_null()) text += ", " + end.at("exit_kind").get<std::string>();
  return text;
}

std::string text_or_dash(const ordered_json& value) {
  return value.is_string() && !value.get<std::string>().empty() ? value.get<std::string>() : "-";
}

// What it is frozen for, and what lets it go on.
std::vector<std::string> spent_of(const ordered_json& json) {
  std::vector<std::string> spent;
  for (const auto& [name, dimension] : json.at("status").at("budget").at("dimensions").items()) {
    if (!dimension.at("breached").get<bool>()) continue;
    spent.push_back(fmt::format("{} is spent, {} of {}; paddock budget grant {} {} N", name,
                                dimension.at("used").get<std::int64_t>(),
                                dimension.at("limit").get<std::int64_t>(),
                                json.at("name").get<std::string>(), name));
  }
  return spent;
}

std::string indented(const std::string& text) {
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out += "  " + printable(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

}  // namespace

Result<std::string> agent_list_text(std::string_view answer) {
  return render<std::string>(answer, [](const ordered_json& json) {
    std::vector<std::vector<std::string>> rows = {
        {"AGENT", "PROFILE", "STATE", "RUN", "RESTARTS", "LAST END"}};
    for (const ordered_json& agent : json.at("agents")) {
      const ordered_json& status = agent.at("status");
      rows.push_back({agent.at("name").get<std::string>(), agent.at("profile").get<std::string>(),
                      status.at("state").get<std::string>(), text_or_dash(status.at("run")),
                      fmt::format("{}", status.at("restarts").get<std::uint64_t>()),
                      end_of(status)});
    }
    return table(rows);
  });
}

Result<AgentText> agent_status_text(std::string_view answer) {
  return render<AgentText>(answer, [](const ordered_json& json) {
    const ordered_json& status = json.at("status");
    AgentText result{.text = "", .state = status.at("state").get<std::string>()};
    const auto line = [&](std::string_view key, const std::string& value) {
      result.text += fmt::format("{:<10} {}\n", key, printable(value));
    };
    line("agent", json.at("name").get<std::string>());
    line("state", status.at("since").is_null()
                      ? result.state
                      : result.state + " since " + status.at("since").get<std::string>());
    if (const std::string reason = status.at("reason").get<std::string>(); !reason.empty())
      line("reason", reason);
    for (const std::string& spent : spent_of(json)) line("budget", spent);
    line("wanted", status.at("wanted").get<bool>() ? "yes" : "no");
    if (!json.value("recorded", true))
      line("recorded", "not yet: a daemon that is killed now would start it again");
    if (status.at("run").is_string()) line("run", status["run"].get<std::string>());
    line("restarts", fmt::format("{}", status.at("restarts").get<std::uint64_t>()));
    if (status.at("next_start").is_string())
      line("next start", status["next_start"].get<std::string>());
    if (status.at("iteration").is_number())
      line("iteration", fmt::format("{}", status["iteration"].get<std::uint64_t>()));
    if (status.at("last_end").is_null()) return result;
    const ordered_json& end = status["last_end"];
    std::string text = end_of(status) + " at " + end.at("at").get<std::string>();
    if (const auto detail = end.at("detail").get<std::string>(); !detail.empty())
      text += ": " + detail;
    if (const auto summary = end.at("summary").get<std::string>(); !summary.empty())
      text += ": " + summary;
    line("last end", text);
    if (const std::string tail = bytes_at(end, "stderr_tail").value_or(""); !tail.empty())
      result.text += "its last words on stderr:\n" + indented(tail);
    return result;
  });
}

Result<std::string> log_line_text(std::string_view line) {
  return render<std::string>(line, [](const ordered_json& json) {
    std::string stream = json.at("stream").get<std::string>();
    if (json.contains("level")) stream = json["level"].get<std::string>();
    return fmt::format("{} {:<7} {}\n", json.at("at").get<std::string>(), printable(stream),
                       printable(bytes_at(json, "text", "base64").value_or("")));
  });
}

}  // namespace paddock::supervisor::cli
