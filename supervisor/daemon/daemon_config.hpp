#pragma once
// DaemonConfig: everything that paddockd can be told, from its arguments and its config file. An
// argument wins over the file, the file over the default; directories of profiles, agents and
// runtimes add up in that order.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "kernel/confine/host_uid.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/policy/names.hpp"
#include "supervisor/http/loopback.hpp"
#include "supervisor/ledger/ledger_writer.hpp"
#include "supervisor/runs/run_table.hpp"
#include "supervisor/verify/verifier_limits.hpp"

namespace paddock::supervisor {

// Whoever knows the token may use the front doors over TCP.
struct TcpConfig {
  LoopbackAddress listen;
  std::string token_file;
  std::string tenant;  // whose requests these are; empty: the daemon's own user's
  std::string profile = kernel::unread_code_profile_name;

  bool operator==(const TcpConfig&) const = default;
};

struct DaemonConfig {
  std::string runtime_directory;                 // sockets; made 0700 if it is missing
  std::string state_directory;                   // made 0700 if it is missing
  std::vector<std::string> profile_directories;  // the shipped one first: later ones override
  std::vector<std::string> agent_directories;
  std::vector<std::string> runtime_directories;
  std::string access_file;         // empty: one of default_access_files(), or none
  std::string cgroup_base;         // empty: it is looked for; "none": runs get no cgroup
  kernel::HostUidRange host_uids;  // used by root only

  RunTableLimits runs;
  std::size_t connections_max = 512;
  std::size_t body_bytes_max = 32u << 20;
  LedgerSync ledger_sync = LedgerSync::full;
  LedgerLimits ledger;
  VerifierLimits verify;
  bool verify_warm = true;                  // items' runs are forks where that can be had
  std::size_t zygotes_max = 0;              // of all kinds; 0: zygotes_for(verify.items_alive)
  std::optional<TcpConfig> tcp;             // absent: no TCP
  std::chrono::milliseconds drain{30'000};  // from SIGTERM to the stop of what still runs
};

DaemonConfig default_daemon_config();

// Enough for candidates and judges of all items that are judged at a time, and for runs besides.
std::size_t zygotes_for(std::size_t items_alive);

// Overrides `config` with what the TOML text sets:
//   runtime_dir state_dir access cgroup_base = "PATH"   profiles agents runtimes = ["DIR", ...]
//   (or cgroup_base = "none")
//   host_uids = "FIRST-LAST"
//   [ledger] sync = "full" or "normal", keep_days, keep_bytes
//   [verify] items_alive wall_seconds queued queued_bytes warm known_answers
//   [tcp] listen token_file tenant profile
//   [limits] runs_alive runs_queued runs_finished connections body_bytes drain_seconds
//            zygotes
// Mistakes are appended to `diagnostics`.
void apply_config_file(std::string_view text, const std::string& file, DaemonConfig& config,
                       std::vector<kernel::Diagnostic>& diagnostics);

// The same of the file itself. The mistakes in it; fails with io if it cannot be read.
kernel::Result<std::vector<kernel::Diagnostic>> read_config_file(const std::string& file,
                                                                 DaemonConfig& config);

// "60578-61183". Fails with invalid_request: no range, uid 0, or backwards.
kernel::Result<kernel::HostUidRange> parse_host_uids(const std::string& text);

}  // namespace paddock::supervisor
