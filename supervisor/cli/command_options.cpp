// Every command but `run` and `policy`, with its options.

#include "kernel/policy/names.hpp"
#include "kernel/policy/units.hpp"
#include "supervisor/cli/help.hpp"
#include "supervisor/cli/option_parts.hpp"

namespace paddock::supervisor::cli {
namespace {

CLI::App* add_agent_command(CLI::App& agent, const std::string& name, const char* about,
                            const char* footer, Options& options) {
  CLI::App* const command = add_command(agent, name, about, footer);
  command->add_option("agent", options.agent, "Its name")->required()->type_name("AGENT");
  return command;
}

CLI::App* add_key_command(CLI::App& key, const std::string& name, const char* about,
                          const char* footer, Options& options) {
  CLI::App* const command = add_command(key, name, about, footer);
  command->add_option("tenant", options.tenant, "Its name; without one, the operator")
      ->type_name("TENANT");
  command->add_flag("--json", options.json, "As the daemon tells it");
  return command;
}

// Which ledger: it is one file, so that one word says it.
void add_ledger_place(CLI::App& command, const std::string& file_name, Options& options) {
  CLI::Option* const file =
      add_text(&command, file_name, options.ledger_file,
               "The ledger's file; otherwise ledger.db of the state directory", "FILE");
  CLI::Option* const directory = add_text(&command, "--state-dir", options.state_directory,
                                          "Where the daemon's ledger is", "DIR");
  CLI::Option* const config =
      add_text(&command, "--config", options.config_file, "The daemon's config file", "FILE");
  file->excludes(directory)->excludes(config);
}

}  // namespace

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
  add_count(grant, "amount", options.amount, "How much more of it", "AMOUNT")->required();
  commands.emplace_back(grant, Command::budget_grant);
}

void add_key(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const key = add_command(app, "key", help::key, help::key_footer);
  key->require_subcommand(1);
  commands.emplace_back(add_key_command(*key, "new", help::key_new, help::key_new_footer, options),
                        Command::key_new);
  commands.emplace_back(
      add_key_command(*key, "rotate", help::key_rotate, help::key_rotate_footer, options),
      Command::key_rotate);
  commands.emplace_back(
      add_key_command(*key, "show-id", help::key_show_id, help::key_show_id_footer, options),
      Command::key_show_id);
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

void add_verify(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const verify = add_command(app, "verify", help::verify, help::verify_footer);
  verify->add_option("items", options.verify.file, "One item a line, as JSON; - for stdin")
      ->required()
      ->type_name("ITEMS.jsonl");
  add_text(verify, "-p,--profile", options.verify.profile,
           "That candidates run under (STRICT, or their language's)", "PROFILE");
  verify->add_flag("--all-or-nothing", options.verify.all_or_nothing,
                   "A reward of 1 if every case passes, else 0; not the fraction");
  verify->add_flag("--first-fail", options.verify.first_fail,
                   "Stop an item at its first failed case");
  verify->add_flag("--allow-degraded", options.verify.allow_degraded,
                   "Also where a control of the profile is missing; the answers name it");
  verify->add_flag("--cold", options.verify.cold,
                   "No run as a fork of an interpreter that the daemon keeps");
  verify->add_flag("--judged", options.verify.judged,
                   "A judge's run for each item, also where the answers are known");
  verify->add_flag("--stream", options.verify.stream, "Each answer as it comes, in any order");
  verify->add_flag("--json", options.json, "Each answer whole, one JSON object a line");
  commands.emplace_back(verify, Command::verify);
}

void add_doctor(CLI::App& app, Options& options, Commands& commands) {
  CLI::App* const doctor = add_command(app, "doctor", help::doctor, help::doctor_footer);
  options.profile = kernel::unread_code_profile_name;
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
  add_ledger_place(*verify, "--file,file", options);
  commands.emplace_back(verify, Command::ledger_verify);

  CLI::App* const show = add_command(*ledger, "show", help::ledger_show, help::ledger_show_footer);
  show->add_option("run", options.run, "Its id")->required()->type_name("RUN");
  add_ledger_place(*show, "--file", options);
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

}  // namespace paddock::supervisor::cli
