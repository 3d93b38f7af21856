// `paddock ps`: the daemon's runs as a table.

#include <fmt/format.h>

#include "supervisor/cli/age.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/table.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;
using nlohmann::ordered_json;

constexpr std::size_t command_characters_max = 80;

// Of a finished run how it ended, of a running one its process.
std::string cause_or_pid(const ordered_json& run) {
  if (run.contains("result")) {
    const ordered_json& result = run["result"];
    const auto cause = result.at("cause").get<std::string>();
    return cause == "exited" ? fmt::format("exited {}", result.at("exit_code").get<int>()) : cause;
  }
  if (run.contains("confinement") && run["confinement"].contains("pid"))
    return fmt::format("pid {}", run["confinement"]["pid"].get<int>());
  return "-";
}

std::string command_of_run(const ordered_json& run) {
  std::string line = shell_line(run.at("argv").get<std::vector<std::string>>());
  if (line.size() > command_characters_max) {
    line.resize(command_characters_max - 3);
    line += "...";
  }
  return line;
}

Result<std::string> ps_text(std::string_view answer, bool all) {
  return render<std::string>(answer, [&](const ordered_json& json) {
    std::vector<std::vector<std::string>> rows = {
        {"ID", "STATE", "PROFILE", "AGE", "CAUSE/PID", "COMMAND"}};
    const std::time_t now = std::time(nullptr);
    for (const ordered_json& run : json.at("runs")) {
      const auto state = run.at("state").get<std::string>();
      if (!all && state == "finished") continue;
      rows.push_back({run.at("id").get<std::string>(), state, run.at("profile").get<std::string>(),
                      age_of(run.at("created_at").get<std::string>(), now), cause_or_pid(run),
                      command_of_run(run)});
    }
    return table(rows);
  });
}

Result<std::string> ps(const Options& options) {
  Client client = TRY(require_daemon(options.global, "ps"));
  std::string answer = TRY(ask(client, "GET", "/v1/runs"));
  if (options.json) return answer;
  return ps_text(answer, options.all);
}

}  // namespace

int ps_command(const Options& options) {
  return end_with(ps(options));
}

}  // namespace paddock::supervisor::cli
