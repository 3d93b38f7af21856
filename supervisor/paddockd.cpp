// paddockd: the supervisor daemon.

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "supervisor/config/daemon_arguments.hpp"
#include "supervisor/daemon.hpp"
#include "supervisor/telemetry/service_manager.hpp"

using namespace paddock::supervisor;

namespace {

// To stderr, where a service manager or a terminal reads it.
void start_logging() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("paddockd"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
}

}  // namespace

int main(int argc, char** argv) {
  // Before any other descriptor is opened: the service manager's have fixed numbers.
  ServiceManager services;
  const ParsedArguments arguments = parse_daemon_arguments(argc, argv);
  if (!arguments.config) return arguments.exit_status;
  start_logging();

  const auto daemon = Daemon::create(*arguments.config, std::move(services));
  if (!daemon) {
    spdlog::critical("{}", daemon.error().message);
    return daemon.error().code == paddock::kernel::ErrorCode::sandbox_not_available ? 3 : 1;
  }
  (*daemon)->serve();
  spdlog::info("stopped");
  return 0;
}
