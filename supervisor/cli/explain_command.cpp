// `paddock explain`: why a run ended as it did, from the daemon or, without one, from its ledger.

#include "supervisor/api/json.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/config/paths.hpp"
#include "supervisor/ledger/file_names.hpp"
#include "supervisor/runs/explain.hpp"
#include "supervisor/runs/stored_run.hpp"

#include <fmt/format.h>

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::ordered_json;

Result<std::string> from_ledger(const std::string& id) {
  const std::string path = ledger_path(default_state_directory());
  auto reader = LedgerReader::open(path);
  if (!reader && reader.error().code == ErrorCode::not_found)
    return fail(ErrorCode::not_found,
                fmt::format("no daemon answers, and there is no ledger at '{}'", path));
  if (!reader) return tl::unexpected<kernel::Error>(reader.error());
  const auto stored = TRY(reader->run(id));
  if (!stored) return fail(ErrorCode::not_found, fmt::format("no run '{}' in '{}'", id, path));
  const RunRecord run = TRY(record_of(*stored));
  return explanation_to_json(run, explain(run));
}

Result<std::string> explanation_of(const GlobalOptions& options, const std::string& id) {
  if (!is_run_id(id))
    return fail(ErrorCode::invalid_request,
                fmt::format("'{}' is not a run's id (r- and 16 hexadecimal digits)", id));
  if (!options.embedded) {
    auto daemon = TRY(find_daemon(options));
    if (daemon) return ask(*daemon, "GET", "/v1/runs/" + id + "/explain");
  }
  return from_ledger(id);
}

Result<std::string> text_of(std::string_view answer) {
  return render<std::string>(answer, [](const ordered_json& json) {
    std::string text;
    for (const char* key : {"limit", "observed", "change"}) {
      const auto paragraph = json.at(key).get<std::string>();
      if (paragraph.empty()) continue;
      text += (text.empty() ? "" : "\n") + printable(paragraph) + "\n";
    }
    if (json.contains("cold_because"))
      text += "not warm: " + printable(json["cold_because"].get<std::string>()) + "\n";
    return text;
  });
}

}  // namespace

int explain_command(const Options& options) {
  auto text = explanation_of(options.global, options.ids.front());
  if (text && !options.json) text = text_of(*text);
  return end_with(text);
}

}  // namespace paddock::supervisor::cli
