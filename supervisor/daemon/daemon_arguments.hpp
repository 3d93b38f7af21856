#pragma once
// argv -> DaemonConfig, config file included.

#include <optional>

#include "supervisor/daemon/daemon_config.hpp"

namespace paddock::supervisor {

// Either a configuration, or the exit status with which the program ends now: 0 after --help and
// --version, 1 after a mistake, which has been printed to stderr.
struct ParsedArguments {
  std::optional<DaemonConfig> config;
  bool logs_json = false;
  int exit_status = 0;
};

ParsedArguments parse_daemon_arguments(int argc, char** argv);

}  // namespace paddock::supervisor
