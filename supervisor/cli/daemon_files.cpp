#include "supervisor/cli/daemon_files.hpp"

#include <fmt/format.h>

#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/config/paths.hpp"
#include "supervisor/ledger/file_names.hpp"

namespace paddock::supervisor::cli {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

Result<DaemonConfig> daemon_config_of(const Options& options) {
  DaemonConfig config = default_daemon_config();
  if (!options.config_file.empty()) {
    const std::vector<kernel::Diagnostic> mistakes =
        TRY(read_config_file(options.config_file, config));
    for (const kernel::Diagnostic& diagnostic : mistakes) complain(kernel::to_string(diagnostic));
    if (!mistakes.empty())
      return fail(ErrorCode::invalid_request, "the daemon's configuration is not valid");
  }
  if (!options.state_directory.empty()) config.state_directory = options.state_directory;
  if (!options.runtime_directory.empty()) config.runtime_directory = options.runtime_directory;
  if (!options.global.cgroup_base.empty()) config.cgroup_base = options.global.cgroup_base;
  return config;
}

Result<std::string> ledger_file_of(const Options& options) {
  if (!options.ledger_file.empty()) return options.ledger_file;
  if (options.state_directory.empty() && options.config_file.empty() && !options.global.embedded) {
    const DaemonAddress address = daemon_address(options.global);
    if (!address.named_by.empty() &&
        address.socket != main_socket_path(default_runtime_directory()))
      return fail(
          ErrorCode::invalid_request,
          fmt::format("{} names the daemon at '{}', and its ledger is in a state directory "
                      "that is not known here: name it with --state-dir, --config or "
                      "--file (--embedded: the default one, '{}')",
                      address.named_by, address.socket, ledger_path(default_state_directory())));
  }
  return ledger_path(TRY(daemon_config_of(options)).state_directory);
}

}  // namespace paddock::supervisor::cli
