#include "supervisor/cli/daemon_files.hpp"

#include <fmt/format.h>

#include "kernel/base/fd.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/config/paths.hpp"
#include "supervisor/ledger/file_names.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::size_t config_bytes_max = 1u << 20;

}  // namespace

Result<DaemonConfig> daemon_config_of(const Options& options) {
  DaemonConfig config = default_daemon_config();
  if (!options.config_file.empty()) {
    std::vector<kernel::Diagnostic> diagnostics;
    apply_config_file(TRY(kernel::read_file(options.config_file, config_bytes_max)),
                      options.config_file, config, diagnostics);
    for (const kernel::Diagnostic& diagnostic : diagnostics)
      complain(kernel::to_string(diagnostic));
    if (!diagnostics.empty())
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
