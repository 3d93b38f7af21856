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
  add_text(&app, "--socket", global.socket,
           "The daemon's socket; otherwise $PADDOCK_SOCKET, or the default place", "PATH")
      ->group("Global options");
  app.add_flag("--embedded", global.embedded, "Never use a daemon")->group("Global options");
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
      ->check(CLI::Validator(
          [](const std::string& path) {
            return path.empty() ? std::string("is empty; write a path, or \"none\"")
                                : std::string();
          },
          ""))
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

using Commands = std::vector<std::pair<const CLI::App*, Command>>;

void add_run(CLI::App& app, Options& options, RawRequest& raw, Commands& commands) {
  CLI::App* const run = add_command(app, "run", help::run, help::run_footer);
  add_request_options(run, options.request, raw);
  run->add_flag("--json", options.json, "Print the run's record instead of passing its output on");
  run->add_flag("--dry-run", options.dry_run, "Print the plan as JSON and start nothing");
  run->add_flag("--exit-status", options.exit_status, "Exit as the program did");
  run->add_flag("--report", options.report, "Afterwards, print how it ended and what confined it");
  commands.emplace_back(run, Command::run);

  CLI::App* const policy = add_command(app, "policy", help::policy, help::policy_footer);
  add_request_options(policy, options.request, raw);
  policy->add_flag("--json", options.json, "The plan, as JSON");
  commands.emplace_back(policy, Command::policy);
}

void add_profile(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const profile = add_command(app, "profile", help::profile, help::profile_footer);
  profile->require_subcommand(1);

  CLI::App* const list =
      add_command(*profile, "list", help::profile_list, help::profile_list_footer);
  list->add_flag("--json", options.json, "As JSON");
  commands.emplace_back(list, Command::profile_list);

  CLI::App* const show =
      add_command(*profile, "show", help::profile_show, help::profile_show_footer);
  show->add_option("profile", options.profile, "Its name")->required()->type_name("PROFILE");
  show->add_flag("--json", options.json, "As JSON");
  commands.emplace_back(show, Command::profile_show);

  CLI::App* const check =
      add_command(*profile, "check", help::profile_check, help::profile_check_footer);
  check->add_option("path", options.paths, "Files or directories; none: all that would be loaded")
      ->type_name("PATH");
  commands.emplace_back(check, Command::profile_check);
}

void add_daemon_commands(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const ps = add_command(app, "ps", help::ps, help::ps_footer);
  ps->add_flag("--all", options.all, "Finished runs too");
  ps->add_flag("--json", options.json, "As the daemon tells it");
  commands.emplace_back(ps, Command::ps);

  CLI::App* const kill = add_command(app, "kill", help::kill, help::kill_footer);
  kill->add_option("id", options.ids, "Runs, by their ids")->required()->type_name("ID");
  commands.emplace_back(kill, Command::kill);

  CLI::App* const drain = add_command(app, "drain", help::drain, help::drain_footer);
  const auto set_deadline = [&options](const std::string& text) {
    if (text == "0") {
      options.deadline = std::chrono::milliseconds(0);
      return;
    }
    const auto duration = kernel::parse_duration(text);
    if (!duration) throw mistake("--deadline", duration.error().message);
    options.deadline = *duration;
  };
  CLI::Option* const deadline = drain
                                    ->add_option_function<std::string>(
                                        "--deadline", set_deadline,
                                        "How long runs may still take: 30, 1.5m, 0 for none at all")
                                    ->type_name("S");
  drain->add_flag("--cancel", options.cancel, "Take runs again")->excludes(deadline);
  commands.emplace_back(drain, Command::drain);

  commands.emplace_back(add_command(app, "reload", help::reload, help::reload_footer),
                        Command::reload);
}

CLI::App* add_agent_command(CLI::App& agent, const std::string& name, const char* about,
                            const char* footer, Options& options) {
  CLI::App* const command = add_command(agent, name, about, footer);
  command->add_option("agent", options.agent, "Its name")->required()->type_name("AGENT");
  return command;
}

void add_agent(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const agent = add_command(app, "agent", help::agent, help::agent_footer);
  agent->require_subcommand(1);

  CLI::App* const list = add_command(*agent, "list", help::agent_list, help::agent_list_footer);
  list->add_flag("--json", options.json, "As the daemon tells it");
  commands.emplace_back(list, Command::agent_list);

  CLI::App* const status =
      add_agent_command(*agent, "status", help::agent_status, help::agent_status_footer, options);
  status->add_flag("--json", options.json, "As the daemon tells it");
  commands.emplace_back(status, Command::agent_status);

  commands.emplace_back(
      add_agent_command(*agent, "start", help::agent_start, help::agent_start_footer, options),
      Command::agent_start);
  commands.emplace_back(
      add_agent_command(*agent, "stop", help::agent_stop, help::agent_stop_footer, options),
      Command::agent_stop);
  commands.emplace_back(add_agent_command(*agent, "restart", help::agent_restart,
                                          help::agent_restart_footer, options),
                        Command::agent_restart);

  CLI::App* const logs =
      add_agent_command(*agent, "logs", help::agent_logs, help::agent_logs_footer, options);
  logs->add_option("-n,--lines", options.lines, "That many of the newest lines (100)")
      ->check(CLI::Range(0, 10'000))
      ->type_name("N");
  logs->add_flag("-f,--follow", options.follow, "And what comes from now on");
  logs->add_flag("--json", options.json, "One JSON object a line, as the file has it");
  commands.emplace_back(logs, Command::agent_logs);
}

void add_budget(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const budget = add_command(app, "budget", help::budget, help::budget_footer);
  budget->require_subcommand(1);

  CLI::App* const show = add_command(*budget, "show", help::budget_show, help::budget_show_footer);
  show->add_option("agent", options.agent, "Its name; without one, of all agents")
      ->type_name("AGENT");
  show->add_flag("--json", options.json, "One JSON object for each agent, as the daemon tells it");
  commands.emplace_back(show, Command::budget_show);

  CLI::App* const grant =
      add_agent_command(*budget, "grant", help::budget_grant, help::budget_grant_footer, options);
  grant->add_option("dimension", options.dimension, "cpu_s, wall_s, fs_w_bytes, or the agent's own")
      ->required()
      ->type_name("DIM");
  grant->add_option("amount", options.amount, "How much more of it")
      ->check(CLI::PositiveNumber)  // "-1" would be the largest of all
      ->required()
      ->type_name("AMOUNT");
  commands.emplace_back(grant, Command::budget_grant);
}

void add_watching(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const explain = add_command(app, "explain", help::explain, help::explain_footer);
  explain->add_option("run", options.ids, "The run's id")
      ->required()
      ->expected(1)
      ->type_name("RUN");
  explain->add_flag("--json", options.json, "As JSON");
  commands.emplace_back(explain, Command::explain);

  CLI::App* const top = add_command(app, "top", help::top, help::top_footer);
  top->add_flag("--once", options.once, "Print it and end");
  commands.emplace_back(top, Command::top);

  CLI::App* const events = add_command(app, "events", help::events, help::events_footer);
  add_count(events, "--after", options.after, "Only those after this seq", "SEQ", 0);
  events->add_flag("-f,--follow", options.follow, "Go on with those to come");
  add_text(events, "--kind", options.kind, "Only those whose kind begins so: run.", "PREFIX");
  add_count(events, "--limit", options.limit, "At most so many", "N");
  commands.emplace_back(events, Command::events);
}

void add_doctor(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const doctor = add_command(app, "doctor", help::doctor, help::doctor_footer);
  options.profile = "STRICT";
  add_text(doctor, "-p,--profile", options.profile, "The one that decides the exit code (STRICT)",
           "PROFILE");
  doctor->add_flag("--json", options.json, "As JSON");
  commands.emplace_back(doctor, Command::doctor);
}

void add_ledger(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const ledger = add_command(app, "ledger", help::ledger, help::ledger_footer);
  ledger->require_subcommand(1);

  CLI::App* const verify =
      add_command(*ledger, "verify", help::ledger_verify, help::ledger_verify_footer);
  add_text(verify, "--head", options.ledger_head, "A head noted elsewhere that must be in it",
           "SEQ:HASH");
  verify->add_flag("--json", options.json, "As JSON");
  verify->add_option("file", options.ledger_file, "Its file; otherwise the state directory's")
      ->type_name("FILE");
  commands.emplace_back(verify, Command::ledger_verify);

  CLI::App* const show = add_command(*ledger, "show", help::ledger_show, help::ledger_show_footer);
  show->add_option("run", options.run, "Its id")->required()->type_name("RUN");
  add_text(show, "--file", options.ledger_file, "The ledger; otherwise the state directory's",
           "FILE");
  show->add_flag("--json", options.json, "As JSON, with the policy");
  commands.emplace_back(show, Command::ledger_show);
}

void add_recover(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const recover = add_command(app, "recover", help::recover, help::recover_footer);
  add_text(recover, "--config", options.config_file, "The daemon's config file", "FILE");
  add_text(recover, "--state-dir", options.state_directory, "Where the daemon's ledger is", "DIR");
  add_text(recover, "--runtime-dir", options.runtime_directory, "Where the daemon's sockets are",
           "DIR");
  recover->add_flag("--json", options.json, "As JSON");
  commands.emplace_back(recover, Command::recover);
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
  add_watching(app, options, commands);

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
