// paddockd: the supervisor daemon.

#include "kernel/base/error.hpp"
#include "supervisor/daemon/daemon.hpp"
#include "supervisor/daemon/daemon_arguments.hpp"
#include "supervisor/telemetry/log.hpp"
#include "supervisor/telemetry/service_manager.hpp"

using namespace paddock;
using namespace paddock::supervisor;

int main(int argc, char** argv) {
  // Before any other descriptor is opened: the service manager's have fixed numbers.
  ServiceManager services;
  const ParsedArguments arguments = parse_daemon_arguments(argc, argv);
  if (!arguments.config) return arguments.exit_status;
  start_logging(arguments.logs_json ? LogFormat::json : LogFormat::text);

  const auto daemon = Daemon::create(*arguments.config, std::move(services));
  if (!daemon) {
    log(LogLevel::critical, "daemon.failed", daemon.error().message);
    return daemon.error().code == kernel::ErrorCode::sandbox_not_available
               ? kernel::exit_cannot_isolate
               : 1;
  }
  (*daemon)->serve();
  log(LogLevel::info, "daemon.stopped", "stopped");
  return 0;
}
