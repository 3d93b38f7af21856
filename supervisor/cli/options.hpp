#pragma once
// The command line as plain data. CLI11 is used behind option_parts.hpp and nowhere else.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace paddock::supervisor::cli {

enum class Command {
  run,
  ps,
  kill,
  profile_list,
  profile_show,
  profile_check,
  policy,
  reload,
  doctor,
  ledger_verify,
  ledger_show,
  recover,
  agent_list,
  agent_status,
  agent_start,
  agent_stop,
  agent_restart,
  agent_logs,
  budget_show,
  budget_grant,
  key_new,
  key_rotate,
  key_show_id,
  explain,
  drain,
  top,
  events,
  verify,
};

// Where to find a daemon, and what to use where there is none.
struct GlobalOptions {
  std::string socket;                 // empty: PADDOCK_SOCKET, or the default place
  bool embedded = false;              // never use a daemon
  std::vector<std::string> profiles;  // directories after the default ones
  std::vector<std::string> agents;
  std::string cgroup_base;  // of embedded runs; empty: it is looked for; "none": no cgroup

  bool operator==(const GlobalOptions&) const = default;
};

// What is to run and under what: for `run` and `policy`.
struct RequestOptions {
  std::string profile;
  std::string agent;
  std::optional<std::chrono::milliseconds> wall_clock;
  std::optional<std::uint64_t> cpu_seconds;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> max_procs;
  std::vector<std::string> bind_ro;  // made absolute
  std::vector<std::string> bind_rw;
  std::string workdir;       // as typed: a path inside the sandbox
  std::string host_workdir;  // the same made absolute: for runs that have no inside
  std::map<std::string, std::string> environment;  // of --env and --allow-env together
  bool network = false;
  std::string tenant;
  bool allow_degraded = false;
  bool warm = false;
  std::vector<std::string> argv;  // of -c, too

  bool operator==(const RequestOptions&) const = default;
};

// How items are judged: for `verify`.
struct VerifyOptions {
  std::string file;     // "-": stdin
  std::string profile;  // empty: STRICT, or the one of an item's language
  bool all_or_nothing = false;
  bool first_fail = false;
  bool allow_degraded = false;
  bool stream = false;  // answers as they come, not in the order of the input
  bool cold = false;    // no run is a fork
  bool judged = false;  // each item has a judge's run

  bool operator==(const VerifyOptions&) const = default;
};

struct Options {
  Command command = Command::run;
  GlobalOptions global;
  RequestOptions request;
  VerifyOptions verify;

  bool json = false;
  bool dry_run = false;      // run
  bool exit_status = false;  // run
  bool report = false;       // run
  bool all = false;          // ps

  std::optional<std::chrono::milliseconds> deadline;  // drain
  bool cancel = false;                                // drain
  bool once = false;                                  // top
  bool follow = false;                                // events, agent logs
  std::optional<std::uint64_t> after;                 // events
  std::optional<std::uint64_t> limit;                 // events
  std::string kind;                                   // events

  std::vector<std::string> ids;         // kill, explain
  std::vector<std::string> paths;       // profile check
  std::string profile;                  // profile show, doctor
  std::string run;                      // ledger show
  std::string ledger_file;              // ledger; empty: the state directory's
  std::string ledger_head;              // ledger verify: SEQ:HASH; empty: none
  std::string agent;                    // of the agent commands
  std::string dimension;                // budget grant
  std::optional<std::uint64_t> amount;  // budget grant
  std::uint64_t lines = 100;            // agent logs
  std::string tenant;                   // of the key commands; empty: the operator

  std::string config_file;        // recover, ledger: the daemon's; empty: none
  std::string state_directory;    // recover, ledger; empty: the daemon's default
  std::string runtime_directory;  // recover; empty: the daemon's default

  bool operator==(const Options&) const = default;
};

// Instead of options: what to print before ending with `exit_code`. Help is no error.
struct Farewell {
  int exit_code = 0;
  std::string text;   // for stdout
  std::string error;  // for complain()

  bool operator==(const Farewell&) const = default;
};

// `words` is argv without the program's name. `environment` is where --allow-env looks ("K" ->
// value, or nothing); `current_directory` is what relative paths are relative to.
using EnvironmentLookup = std::optional<std::string> (*)(const std::string& name);
std::variant<Options, Farewell> parse_options(const std::vector<std::string>& words,
                                              EnvironmentLookup environment,
                                              const std::string& current_directory);

}  // namespace paddock::supervisor::cli
