#include "supervisor/cli/options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/policy/names.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/help.hpp"
#include "supervisor/cli/option_parts.hpp"

namespace paddock::supervisor::cli {
namespace {

void add_global_options(CLI::App& app, GlobalOptions& global) {
  CLI::Option* const socket =
      add_text(&app, "--socket", global.socket,
               "The daemon's socket; otherwise $PADDOCK_SOCKET, or the default place", "PATH")
          ->group("Global options");
  app.add_flag("--embedded", global.embedded, "Never use a daemon")
      ->group("Global options")
      ->excludes(socket);
  add_list(&app, "--profiles", global.profiles,
           "Without a daemon: one more directory of profiles (repeatable)", "DIR")
      ->group("Global options");
  add_list(&app, "--agents", global.agents,
           "Without a daemon: one more directory of agents (repeatable)", "DIR")
      ->group("Global options");
  add_text(
      &app, "--cgroup-base", global.cgroup_base,
      "Without a daemon: a cgroup v2 directory for the runs, or \"none\"; otherwise a delegated "
      "one is looked for",
      "PATH")
      ->group("Global options");
}

// CLI11's own, without the list of what each option excludes, and with what follows the options.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? "" : " " + type;
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, name);
    const std::string& command = app->get_name();
    if (command != "run" && command != "policy") return usage;
    usage.erase(usage.find_last_not_of('\n') + 1);
    return usage +
           (command == "run" ? " (-c PYTHON | -- COMMAND...)\n" : " [-c PYTHON | -- COMMAND...]\n");
  }
};

// CLI11 only says that a command is missing when it does not know the one that is there.
std::string message_of(const CLI::Error& error, const CLI::App& app) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  const std::vector<std::string> unknown = app.remaining();
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr || unknown.empty()) return message;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  const std::string nearest = kernel::nearest_name(unknown.front(), commands);
  message = fmt::format("unknown command '{}'", unknown.front());
  return nearest.empty() ? message : fmt::format("{}; did you mean '{}'?", message, nearest);
}

bool is_extra_word(const CLI::Error& error) {
  return dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr &&
         std::string_view(error.what()).find(" -") == std::string_view::npos;
}

// The command that was given: "paddock profile show" is the last one of three.
std::vector<const CLI::App*> given_commands(const CLI::App& app) {
  std::vector<const CLI::App*> given = {&app};
  while (!given.back()->get_subcommands().empty())
    given.push_back(given.back()->get_subcommands().front());
  return given;
}

std::string names_of(const std::vector<const CLI::App*>& commands) {
  std::string names;
  for (const CLI::App* command : commands) {
    if (!names.empty()) names += ' ';
    names += command->get_name();
  }
  return names;
}

Farewell help_of(const CLI::App& app) {
  std::vector<const CLI::App*> given = given_commands(app);
  const CLI::App* const last = given.back();
  given.pop_back();
  return {exit_success, last->help(names_of(given)), ""};
}

Farewell complaint_about(const CLI::Error& error, const CLI::App& app) {
  std::string message = message_of(error, app);
  const std::vector<const CLI::App*> given = given_commands(app);
  if (is_extra_word(error) && given.back()->get_name() == "run")
    message += " (the command to run goes after --)";
  return {exit_error, "", fmt::format("{}; see {} --help", message, names_of(given))};
}

}  // namespace

std::variant<Options, Farewell> parse_options(const std::vector<std::string>& words,
                                              EnvironmentLookup environment,
                                              const std::string& current_directory) {
  // The words after the first -- are a command of its own: CLI11 never sees them.
  const auto split = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> own(words.begin(), split);
  std::vector<std::string> command_words(split == words.end() ? split : split + 1, words.end());

  Options options;
  RawRequest raw;
  Commands commands;
  CLI::App app(help::about, "paddock");
  app.footer(help::footer);
  app.formatter(std::make_shared<HelpFormatter>());  // before the commands: they inherit it
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("paddock ") + PADDOCK_VERSION,
                       "Print the version and exit");
  add_global_options(app, options.global);
  add_run(app, options, raw, commands);
  add_daemon_commands(app, options, commands);
  add_profile(app, options, commands);
  add_doctor(app, options, commands);
  add_ledger(app, options, commands);
  add_recover(app, options, commands);
  add_agent(app, options, commands);
  add_budget(app, options, commands);
  add_key(app, options, commands);
  add_watching(app, options, commands);
  add_verify(app, options, commands);

  try {
    std::reverse(own.begin(), own.end());  // CLI11 takes them from the end
    app.parse(own);
    for (const auto& [parsed, command] : commands)
      if (parsed->parsed()) options.command = command;
    const bool runs_something =
        options.command == Command::run || options.command == Command::policy;
    if (!runs_something && !command_words.empty()) throw CLI::ExtrasError({command_words.front()});
    if (runs_something)
      read_request(options.request, raw, std::move(command_words), environment, current_directory);
    if (options.command == Command::run && options.request.argv.empty() &&
        options.request.agent.empty())
      throw mistake("run", "nothing to run: give -c PYTHON, -- COMMAND, or --agent");
    return options;
  } catch (const CLI::CallForHelp&) {
    return help_of(app);
  } catch (const CLI::Success& success) {  // --version
    return Farewell{exit_success, std::string(success.what()) + "\n", ""};
  } catch (const CLI::ParseError& error) {
    return complaint_about(error, app);
  }
}

}  // namespace paddock::supervisor::cli
