// What is to run and under what: the options of `run` and `policy`.

#include <filesystem>

#include <fmt/format.h>

#include "kernel/policy/units.hpp"
#include "supervisor/cli/help.hpp"
#include "supervisor/cli/option_parts.hpp"

namespace paddock::supervisor::cli {
namespace {

constexpr std::uint64_t bytes_per_mib = 1u << 20;

void add_request_options(CLI::App* app, RequestOptions& request, RawRequest& raw) {
  CLI::Option* const profile =
      add_text(app, "-p,--profile", request.profile, "What it runs under (DEFAULT)", "PROFILE");
  CLI::Option* const agent = add_text(app, "-a,--agent", request.agent,
                                      "A template: its command, under its own profile", "AGENT");
  agent->excludes(profile);
  add_text(app, "--wall", raw.wall, "At most this long: 5, 1.5s, 250ms, 2m", "S");
  add_count(app, "--cpu", request.cpu_seconds, "CPU time of each process, in seconds", "S");
  add_count(app, "--memory-mb", raw.memory_mib, "Virtual memory of each process, in MiB", "N");
  add_count(app, "--max-procs", request.max_procs, "Processes and threads of the run", "N");
  add_list(app, "--bind-ro", request.bind_ro, "Show a host path, read-only (repeatable)", "PATH");
  add_list(app, "--bind-rw", request.bind_rw, "Show a host path, writable (repeatable)", "PATH");
  add_text(app, "--workdir", request.workdir,
           "Where it starts: inside the sandbox, or on the host without one", "PATH");
  add_list(app, "--env", raw.environment, "Set a variable (repeatable)", "K=V");
  add_list(app, "--allow-env", raw.allowed_environment,
           "Pass a variable of this environment on (repeatable)", "K");
  app->add_flag("--network", request.network, "With the host's network");
  add_text(app, "--tenant", request.tenant, "A label for the record", "NAME");
  app->add_flag("--allow-degraded", request.allow_degraded,
                "Run even if the host lacks a required control, and record which");
  app->add_flag("--warm", request.warm,
                "As a fork of an interpreter that the daemon keeps, if that can be had");
  app->add_option("-c", raw.python,
                  "Run this Python program: python3 -c PYTHON; with --warm python3 -I -c PYTHON")
      ->type_name("PYTHON")
      ->excludes(agent);
}

void read_variable(RequestOptions& request, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw mistake("--env", fmt::format("'{}' has no '='; write {}=VALUE, or --allow-env {}", text,
                                       text, text));
  if (equals == 0) throw mistake("--env", fmt::format("'{}' names no variable", text));
  request.environment[text.substr(0, equals)] = text.substr(equals + 1);
}

void pass_variable(RequestOptions& request, const std::string& name,
                   EnvironmentLookup environment) {
  const std::optional<std::string> value = environment(name);
  if (!value) throw mistake("--allow-env", fmt::format("'{}' is not set here", name));
  request.environment[name] = *value;
}

std::string absolute(const std::string& path, const std::string& current_directory) {
  std::string text = (std::filesystem::path(current_directory) / path).lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace

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

void read_request(RequestOptions& request, const RawRequest& raw, std::vector<std::string> argv,
                  EnvironmentLookup environment, const std::string& current_directory) {
  if (!raw.wall.empty()) {
    const auto duration = kernel::parse_duration(raw.wall);
    if (!duration) throw mistake("--wall", duration.error().message);
    request.wall_clock = *duration;
  }
  if (raw.memory_mib) {
    if (*raw.memory_mib > UINT64_MAX / bytes_per_mib)
      throw mistake("--memory-mb",
                    fmt::format("{} MiB is more than can be counted", *raw.memory_mib));
    request.memory_bytes = *raw.memory_mib * bytes_per_mib;
  }
  for (std::string& path : request.bind_ro) path = absolute(path, current_directory);
  for (std::string& path : request.bind_rw) path = absolute(path, current_directory);
  if (!request.workdir.empty()) request.host_workdir = absolute(request.workdir, current_directory);
  for (const std::string& text : raw.environment) read_variable(request, text);
  for (const std::string& name : raw.allowed_environment) pass_variable(request, name, environment);

  if (raw.python && !argv.empty())
    throw mistake("-c", "a Python program and a command after -- exclude each other");
  request.argv = std::move(argv);
  if (raw.python) request.argv = {"python3", "-c", *raw.python};
  // As the interpreter of runtimes/python.toml is started.
  if (raw.python && request.warm) request.argv.insert(request.argv.begin() + 1, "-I");
}

}  // namespace paddock::supervisor::cli
