// `paddock recover`: what a daemon's start does about the runs of one that was killed, without it.

#include <fmt/format.h>
#include <unistd.h>

#include "kernel/confine/privilege.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon_files.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/config/private_directory.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/ledger/file_names.hpp"
#include "supervisor/recovery/recover.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::ordered_json;

// Only one that was named: to look for one is to look below this process's cgroup, and the daemon
// was in another. Its leaves are known from the ledger, too.
Result<std::optional<kernel::CgroupBase>> base_of(const DaemonConfig& config) {
  if (config.cgroup_base.empty() || config.cgroup_base == kernel::no_cgroup_base)
    return std::optional<kernel::CgroupBase>();
  return std::optional(TRY(kernel::prepare_cgroup_base(config.cgroup_base)));
}

bool is_missing(const std::string& path) {
  return ::access(path.c_str(), F_OK) != 0 && errno == ENOENT;
}

// Without a ledger there is nothing to do, and none is made; without its directory somebody has
// mistyped it.
Result<RecoveryReport> recover(const DaemonConfig& config) {
  const std::string path = ledger_path(config.state_directory);
  if (is_missing(config.state_directory))
    return fail(ErrorCode::not_found, "there is no state directory '" + config.state_directory +
                                          "' (see --state-dir and --config)");
  // As another user, root too, this would leave files there that the daemon cannot open.
  TRY_VOID(ensure_state_directory(config.state_directory));
  if (is_missing(path)) return RecoveryReport{};
  const std::optional<kernel::CgroupBase> base = TRY(base_of(config));
  const RecoveryOptions options{.ledger = path,
                                .runtime_directory = config.runtime_directory,
                                .cgroup_base = base,
                                .reach = {.host_uids = config.host_uids}};
  TRY_VOID(kernel::keep_only_needed_capabilities());
  auto writer = LedgerWriter::open(path, config.ledger_sync);
  if (!writer) return recover_without_writing(writer.error(), options);
  return supervisor::recover(*writer, options);
}

std::string text_of(const RecoveryReport& report) {
  if (report.runs.empty() && report.sockets.empty() && report.problem.empty())
    return "nothing to recover: every run has its outcome\n";
  std::string text;
  for (const RecoveredRun& run : report.runs) {
    text += fmt::format("{}  was {}, now {}", run.id, run.state,
                        report.problem.empty() ? "daemon_restart" : "ended but NOT RECORDED");
    if (run.remains.killed > 0) text += fmt::format("; {} processes killed", run.remains.killed);
    if (!run.remains.gone) text += "; NOT ALL OF IT COULD BE KILLED";
    text += "\n";
  }
  for (const std::string& socket : report.sockets) text += printable(socket) + "  removed\n";
  return text;
}

std::string json_of(const RecoveryReport& report) {
  ordered_json runs = ordered_json::array();
  for (const RecoveredRun& run : report.runs)
    runs.push_back({{"id", run.id},
                    {"was", run.state},
                    {"killed", run.remains.killed},
                    {"gone", run.remains.gone}});
  const ordered_json object = {{"runs", std::move(runs)},
                               {"recorded", report.problem.empty()},
                               {"sockets_removed", report.sockets}};
  return dump_line(object);
}

bool all_gone(const RecoveryReport& report) {
  for (const RecoveredRun& run : report.runs)
    if (!run.remains.gone) return false;
  return true;
}

}  // namespace

int recover_command(const Options& options) {
  const auto config = daemon_config_of(options);
  if (!config) return complain_and_exit_code(config.error());
  const auto report = recover(*config);
  if (!report) return complain_and_exit_code(report.error());
  if (!print(options.json ? json_of(*report) : text_of(*report))) return exit_error;
  if (!report->problem.empty())
    complain("not recorded: " + report->problem + "; run `paddock recover` again");
  return all_gone(*report) && report->problem.empty() ? exit_success : exit_error;
}

}  // namespace paddock::supervisor::cli
