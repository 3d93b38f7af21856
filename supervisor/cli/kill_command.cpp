// `paddock kill`: asks the daemon to end runs.

#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;

// Only what looks like an id may become part of a path.
bool is_run_id(std::string_view id) {
  return id.size() == 18 && id.starts_with("r-") &&
         id.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

Result<void> kill(Client& client, const std::string& id) {
  if (!is_run_id(id))
    return kernel::fail(kernel::ErrorCode::invalid_request,
                        "'" + id + "' is not a run's id (r- and 16 hexadecimal digits)");
  const auto answer = ask(client, "DELETE", "/v1/runs/" + id);
  if (!answer)
    return kernel::fail(answer.error().code, "kill " + id + ": " + answer.error().message);
  return {};
}

}  // namespace

int kill_command(const Options& options) {
  auto client = require_daemon(options.global, "kill");
  if (!client) return complain_and_exit_code(client.error());
  int exit_code = exit_success;
  for (const std::string& id : options.ids) {
    const auto killed = kill(*client, id);
    if (killed) continue;
    complain(killed.error().message);
    exit_code = exit_error;
  }
  return exit_code;
}

}  // namespace paddock::supervisor::cli
