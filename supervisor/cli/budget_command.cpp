// `paddock budget show | grant`.

#include <fmt/format.h>

#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/table.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/json/dump.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;
using nlohmann::ordered_json;

using Rows = std::vector<std::vector<std::string>>;

std::string state_of(const ordered_json& dimension) {
  if (dimension.at("breached").get<bool>()) return "spent";
  return dimension.at("warned").get<bool>() ? "80 %" : "-";
}

Result<Rows> rows_of(std::string_view answer) {
  return render<Rows>(answer, [](const ordered_json& json) {
    Rows rows;
    for (const auto& [name, dimension] : json.at("dimensions").items()) {
      const ordered_json& limit = dimension.at("limit");
      rows.push_back({json.at("agent").get<std::string>(), name,
                      fmt::format("{}", dimension.at("used").get<std::int64_t>()),
                      limit.is_null() ? "-" : fmt::format("{}", limit.get<std::int64_t>()),
                      fmt::format("{}", dimension.at("granted").get<std::int64_t>()),
                      state_of(dimension)});
    }
    return rows;
  });
}

Result<std::vector<std::string>> agents_of(Client& client) {
  const std::string answer = TRY(ask(client, "GET", "/v1/agents"));
  return render<std::vector<std::string>>(answer, [](const ordered_json& json) {
    std::vector<std::string> names;
    for (const ordered_json& agent : json.at("agents"))
      names.push_back(agent.at("name").get<std::string>());
    return names;
  });
}

Result<std::string> show_budget(const Options& options) {
  if (!options.agent.empty()) TRY_VOID(check_agent_name(options.agent));
  Client client = TRY(require_daemon(options.global, "budget"));
  std::vector<std::string> agents = {options.agent};
  if (options.agent.empty()) agents = TRY(agents_of(client));
  std::string as_told;
  Rows rows = {{"AGENT", "DIMENSION", "USED", "LIMIT", "GRANTED", "STATE"}};
  for (const std::string& agent : agents) {
    const std::string answer = TRY(ask(client, "GET", "/v1/agents/" + agent + "/budget"));
    as_told += answer;
    const Rows more = TRY(rows_of(answer));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return options.json ? as_told : table(rows);
}

Result<std::string> grant(const Options& options) {
  TRY_VOID(check_agent_name(options.agent));
  Client client = TRY(require_daemon(options.global, "budget"));
  const ordered_json body = {{"dim", options.dimension}, {"amount", options.amount.value()}};
  const std::string answer =
      TRY(ask(client, "POST", "/v1/agents/" + options.agent + "/budget/grant", dump(body)));
  Rows rows = {{"AGENT", "DIMENSION", "USED", "LIMIT", "GRANTED", "STATE"}};
  const Rows all = TRY(rows_of(answer));
  for (const auto& row : all)
    if (row[1] == options.dimension) rows.push_back(row);
  return table(rows);
}

}  // namespace

int budget_show_command(const Options& options) {
  return end_with(show_budget(options));
}

int budget_grant_command(const Options& options) {
  return end_with(grant(options));
}

}  // namespace paddock::supervisor::cli
