// `paddock reload`: makes the daemon read its profiles, agents, languages and access.toml again.

#include <fmt/format.h>

#include "kernel/policy/load.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;
using nlohmann::ordered_json;

Result<std::vector<kernel::Diagnostic>> diagnostics_in(std::string_view answer) {
  using Diagnostics = std::vector<kernel::Diagnostic>;
  return render<Diagnostics>(answer, [](const ordered_json& json) {
    Diagnostics diagnostics;
    const ordered_json& error = json.at("error");
    if (!error.contains("diagnostics")) return diagnostics;
    for (const ordered_json& one : error["diagnostics"])
      diagnostics.push_back({one.at("file").get<std::string>(), one.at("line").get<std::uint32_t>(),
                             one.at("column").get<std::uint32_t>(),
                             one.at("message").get<std::string>()});
    return diagnostics;
  });
}

// {"profiles": 5, "agents": 2} -> "reloaded: 5 profiles, 2 agents"
Result<std::string> success_text(std::string_view answer) {
  return render<std::string>(answer, [](const ordered_json& json) {
    std::string text = "reloaded";
    std::string separator = ": ";
    for (const auto& [key, value] : json.items()) {
      if (!value.is_number_unsigned()) continue;
      text += fmt::format("{}{} {}", separator, value.get<std::uint64_t>(), key);
      separator = ", ";
    }
    return text + "\n";
  });
}

Result<std::string> reload(const Options& options) {
  Client client = TRY(require_daemon(options.global, "reload"));
  const HttpResponse response = TRY(client.request("POST", "/v1/reload"));
  if (response.ok()) return success_text(response.body);
  for (const kernel::Diagnostic& diagnostic :
       diagnostics_in(response.body).value_or(std::vector<kernel::Diagnostic>()))
    complain(kernel::to_string(diagnostic));
  return tl::unexpected<kernel::Error>(error_of(response));
}

}  // namespace

int reload_command(const Options& options) {
  return end_with(reload(options));
}

}  // namespace paddock::supervisor::cli
