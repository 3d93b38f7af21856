#include "supervisor/daemon/daemon_arguments.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

#include "supervisor/config/not_empty.hpp"

namespace paddock::supervisor {
namespace {

// True if the file was read and is without a mistake; prints every mistake otherwise.
bool takes_config_file(const std::string& path, DaemonConfig& config) {
  const auto mistakes = read_config_file(path, config);
  if (!mistakes) {
    std::cerr << "paddockd: " << mistakes.error().message << "\n";
    return false;
  }
  for (const auto& diagnostic : *mistakes) std::cerr << kernel::to_string(diagnostic) << "\n";
  return mistakes->empty();
}

void append(const std::vector<std::string>& more, std::vector<std::string>& directories) {
  directories.insert(directories.end(), more.begin(), more.end());
}

}  // namespace

ParsedArguments parse_daemon_arguments(int argc, char** argv) {
  CLI::App app{"paddockd runs untrusted agents and model-written code, each under a profile"};
  app.set_version_flag("--version", "paddockd " PADDOCK_VERSION);
  app.footer(
      "Example:\n"
      "  paddockd --runtime-dir /run/paddock --profiles /srv/agents/profiles\n"
      "SIGHUP reloads profiles, agents, languages and access.toml; SIGTERM drains, a second one "
      "stops at once.");
  std::string config_file;
  std::string runtime_directory;
  std::string state_directory;
  std::string access_file;
  std::string cgroup_base;
  std::vector<std::string> profiles;
  std::vector<std::string> agents;
  std::vector<std::string> runtimes;
  app.add_option("--config", config_file,
                 "read this TOML file first; paddockd.example.toml has every key")
      ->type_name("FILE");
  app.add_option("--runtime-dir", runtime_directory, "where the sockets are")->type_name("DIR");
  app.add_option("--state-dir", state_directory, "where lasting state is")->type_name("DIR");
  app.add_option("--profiles", profiles,
                 "read profiles here too, after the shipped ones; repeat, later ones override")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--agents", agents, "read agent templates here too; repeat, later ones override")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--runtimes", runtimes,
                 "read languages here too, after the shipped ones; repeat, later ones override")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--access", access_file, "who may ask for what; see access.example.toml")
      ->type_name("FILE");
  app.add_option(
         "--cgroup-base", cgroup_base,
         "make a cgroup v2 leaf for each run below this path, or \"none\": no cgroups; without it "
         "a delegated one is looked for")
      ->type_name("PATH");
  std::string log_format = "text";
  app.add_option("--log-format", log_format, "how log lines look: text, or json: one object each")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0) option->check(not_empty());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return {
        .config = std::nullopt, .logs_json = false, .exit_status = app.exit(error) == 0 ? 0 : 1};
  }

  DaemonConfig config = default_daemon_config();
  if (!config_file.empty() && !takes_config_file(config_file, config))
    return {.config = std::nullopt, .logs_json = false, .exit_status = 1};
  if (!runtime_directory.empty()) config.runtime_directory = runtime_directory;
  if (!state_directory.empty()) config.state_directory = state_directory;
  if (!access_file.empty()) config.access_file = access_file;
  if (!cgroup_base.empty()) config.cgroup_base = cgroup_base;
  append(profiles, config.profile_directories);
  append(agents, config.agent_directories);
  append(runtimes, config.runtime_directories);
  return {.config = std::move(config), .logs_json = log_format == "json", .exit_status = 0};
}

}  // namespace paddock::supervisor
