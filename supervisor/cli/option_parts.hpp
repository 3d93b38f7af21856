#pragma once
// What the command line is put together from: CLI11, with the few things that it does another way.
// Included by the files that describe commands, and by no others.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "supervisor/cli/options.hpp"

namespace paddock::supervisor::cli {

using Commands = std::vector<std::pair<const CLI::App*, Command>>;

// A mistake in the command line, as CLI11 reports its own.
CLI::ValidationError mistake(const std::string& option, const std::string& message);

// An option whose word is empty is a mistake, mostly a variable that is not set: it is refused, not
// taken for an option that was not given.
// Each use of the option takes one word; CLI11's own default would go on eating words.
CLI::Option* add_list(CLI::App* app, const std::string& name, std::vector<std::string>& words,
                      const std::string& help, const std::string& type);

CLI::Option* add_text(CLI::App* app, const std::string& name, std::string& text,
                      const std::string& help, const std::string& type);

CLI::Option* add_count(CLI::App* app, const std::string& name, std::optional<std::uint64_t>& count,
                       const std::string& help, const std::string& type, std::uint64_t least = 1);

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& footer);

// What CLI11 fills in for `run` and `policy`: texts whose meaning CLI11 has no part in.
struct RawRequest {
  std::string wall;
  std::optional<std::uint64_t> memory_mib;
  std::vector<std::string> environment;
  std::vector<std::string> allowed_environment;
  std::optional<std::string> python;
};

// The commands, by file.
void add_run(CLI::App& app, Options& options, RawRequest& raw,
             Commands& commands);                                       // request_options.cpp
void add_profile(CLI::App& app, Options& options, Commands& commands);  // command_options.cpp
void add_daemon_commands(CLI::App& app, Options& options, Commands& commands);
void add_agent(CLI::App& app, Options& options, Commands& commands);
void add_budget(CLI::App& app, Options& options, Commands& commands);
void add_key(CLI::App& app, Options& options, Commands& commands);
void add_watching(CLI::App& app, Options& options, Commands& commands);
void add_doctor(CLI::App& app, Options& options, Commands& commands);
void add_ledger(CLI::App& app, Options& options, Commands& commands);
void add_recover(CLI::App& app, Options& options, Commands& commands);
void add_verify(CLI::App& app, Options& options, Commands& commands);

// The second half of parsing a request: from texts to values.
void read_request(RequestOptions& request, const RawRequest& raw, std::vector<std::string> argv,
                  EnvironmentLookup environment, const std::string& current_directory);

}  // namespace paddock::supervisor::cli
