// paddock: the command line program.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/options.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string current_directory() {
  std::error_code error;
  const std::string path = std::filesystem::current_path(error).string();
  return error ? "/" : path;
}

int say_farewell(const Farewell& farewell) {
  if (!farewell.error.empty()) complain(farewell.error);
  if (!print(farewell.text)) return exit_error;
  return farewell.exit_code;
}

int execute(const Options& options) {
  switch (options.command) {
    case Command::run:
      return run_command(options);
    case Command::ps:
      return ps_command(options);
    case Command::kill:
      return kill_command(options);
    case Command::profile_list:
      return profile_list_command(options);
    case Command::profile_show:
      return profile_show_command(options);
    case Command::profile_check:
      return profile_check_command(options);
    case Command::policy:
      return policy_command(options);
    case Command::reload:
      return reload_command(options);
    case Command::doctor:
      return doctor_command(options);
    case Command::ledger_verify:
      return ledger_verify_command(options);
    case Command::ledger_show:
      return ledger_show_command(options);
    case Command::recover:
      return recover_command(options);
    case Command::agent_list:
      return agent_list_command(options);
    case Command::agent_status:
      return agent_status_command(options);
    case Command::agent_start:
      return agent_start_command(options);
    case Command::agent_stop:
      return agent_stop_command(options);
    case Command::agent_restart:
      return agent_restart_command(options);
    case Command::agent_logs:
      return agent_logs_command(options);
    case Command::budget_show:
      return budget_show_command(options);
    case Command::budget_grant:
      return budget_grant_command(options);
    case Command::key_new:
      return key_new_command(options);
    case Command::key_rotate:
      return key_rotate_command(options);
    case Command::key_show_id:
      return key_show_id_command(options);
    case Command::explain:
      return explain_command(options);
    case Command::drain:
      return drain_command(options);
    case Command::top:
      return top_command(options);
    case Command::events:
      return events_command(options);
    case Command::verify:
      return verify_command(options);
  }
  return exit_error;
}

}  // namespace
}  // namespace paddock::supervisor::cli

int main(int argc, char** argv) {
  namespace cli = paddock::supervisor::cli;
  cli::prepare_standard_streams();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto parsed = cli::parse_options(words, cli::variable, cli::current_directory());
  if (const auto* farewell = std::get_if<cli::Farewell>(&parsed))
    return cli::say_farewell(*farewell);
  return cli::execute(std::get<cli::Options>(parsed));
}
