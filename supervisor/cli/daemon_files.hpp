#pragma once
// Where a daemon's files are, for the commands that work on them without it.

#include <string>

#include "kernel/base/error.hpp"
#include "supervisor/cli/options.hpp"
#include "supervisor/daemon/daemon_config.hpp"

namespace paddock::supervisor::cli {

// The daemon's own configuration, so that both have the same ledger: of --config, then of
// --state-dir, --runtime-dir and --cgroup-base. Complains about each mistake in the file.
kernel::Result<DaemonConfig> daemon_config_of(const Options& options);

// --file, or the one of that configuration. Fails with invalid_request if --socket or
// PADDOCK_SOCKET names another daemon than the default one and nothing says where its ledger is.
kernel::Result<std::string> ledger_file_of(const Options& options);

}  // namespace paddock::supervisor::cli
