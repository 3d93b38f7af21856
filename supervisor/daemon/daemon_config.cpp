#include "supervisor/daemon/daemon_config.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <thread>

#include "kernel/base/fd.hpp"
#include "kernel/policy/names.hpp"
#include "kernel/policy/parse.hpp"
#include "kernel/policy/toml_directory.hpp"
#include "kernel/policy/toml_reader.hpp"
#include "kernel/run/sandbox.hpp"
#include "supervisor/config/paths.hpp"

namespace paddock::supervisor {
namespace {

// `or_word`: accepted in place of a path.
void read_path(kernel::TomlReader& reader, const char* key, std::string& target,
               std::string_view or_word = "/") {
  const auto path = reader.text("", key);
  if (!path) return;
  if (!path->starts_with('/') && *path != or_word)
    return reader.report(reader.place("", key),
                         std::string(key) + " '" + *path + "' is not an absolute path");
  target = *path;
}

// More of them, after those that are known already: later ones override.
void read_directories(kernel::TomlReader& reader, const char* key,
                      std::vector<std::string>& directories) {
  const std::vector<std::string> list =
      reader.text_list("", key).value_or(std::vector<std::string>{});
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].starts_with('/'))
      reader.report(reader.place_of_entry("", key, i),
                    std::string(key) + " '" + list[i] + "' is not an absolute path");
    directories.push_back(list[i]);
  }
}

void read_limits(kernel::TomlReader& reader, DaemonConfig& config) {
  const auto count = [&](const char* key, std::size_t& target) {
    if (const auto value = reader.count("limits", key)) target = *value;
  };
  count("runs_alive", config.runs.alive_max);
  count("runs_queued", config.runs.queued_max);
  count("runs_finished", config.runs.finished_max);
  count("connections", config.connections_max);
  count("zygotes", config.zygotes_max);
  if (const auto value = reader.bytes("limits", "body_bytes")) config.body_bytes_max = *value;
  if (const auto value = reader.duration("limits", "drain_seconds")) config.drain = *value;
}

void read_verify(kernel::TomlReader& reader, DaemonConfig& config) {
  VerifierLimits& limits = config.verify;
  if (const auto value = reader.boolean("verify", "warm")) config.verify_warm = *value;
  if (const auto value = reader.boolean("verify", "known_answers")) limits.known_answers = *value;
  if (const auto value = reader.count("verify", "items_alive")) limits.items_alive = *value;
  if (const auto value = reader.duration("verify", "wall_seconds")) limits.item_wall_clock = *value;
  if (const auto value = reader.count("verify", "queued")) limits.queued_max = *value;
  if (const auto value = reader.bytes("verify", "queued_bytes")) limits.queued_bytes_max = *value;
}

void read_ledger(kernel::TomlReader& reader, DaemonConfig& config) {
  constexpr std::uint64_t days_max = 36'500;
  if (const auto sync = reader.text("ledger", "sync")) {
    config.ledger_sync = *sync == "normal" ? LedgerSync::normal : LedgerSync::full;
    if (*sync != "full" && *sync != "normal")
      reader.report(reader.place("ledger", "sync"),
                    "sync '" + *sync + "' is neither \"full\" nor \"normal\"");
  }
  if (const auto days = reader.count("ledger", "keep_days")) {
    config.ledger.keep = std::chrono::hours(24 * std::min(*days, days_max));
    if (*days > days_max)
      reader.report(
          reader.place("ledger", "keep_days"),
          "keep_days " + std::to_string(*days) + " is more than " + std::to_string(days_max));
  }
  if (const auto bytes = reader.bytes("ledger", "keep_bytes")) config.ledger.keep_bytes = *bytes;
}

// A name of a tenant or a profile. Whether there is one is known later.
void read_name_of(kernel::TomlReader& reader, const char* key, std::string& target) {
  const auto name = reader.text("tcp", key);
  if (!name) return;
  if (!kernel::is_name(*name))
    reader.report(reader.place("tcp", key),
                  std::string(key) + " '" + *name + "' is not of the form [A-Za-z0-9_-]{1,64}");
  target = *name;
}

void read_tcp(kernel::TomlReader& reader, DaemonConfig& config) {
  const auto listen = reader.text("tcp", "listen");  // asked for first: then the table is known
  if (!reader.has("", "tcp")) return;
  TcpConfig tcp;
  for (const char* key : {"listen", "token_file"})
    if (!reader.has("tcp", key))
      reader.report(reader.place("tcp", key), std::string("[tcp] ") + key + " is missing");
  if (listen) {
    if (const auto address = parse_loopback_address(*listen)) {
      tcp.listen = *address;
    } else {
      reader.report(reader.place("tcp", "listen"), "listen " + address.error().message);
    }
  }
  if (const auto path = reader.text("tcp", "token_file")) {
    tcp.token_file = *path;
    if (!path->starts_with('/'))
      reader.report(reader.place("tcp", "token_file"),
                    "token_file '" + *path + "' is not an absolute path");
  }
  read_name_of(reader, "tenant", tcp.tenant);
  read_name_of(reader, "profile", tcp.profile);
  config.tcp = std::move(tcp);
}

}  // namespace

DaemonConfig default_daemon_config() {
  DaemonConfig config;
  config.runtime_directory = default_runtime_directory();
  config.state_directory = default_state_directory();
  config.profile_directories = default_catalog_directories("profiles");
  config.agent_directories = default_catalog_directories("agents");
  config.runtime_directories = default_catalog_directories("runtimes");
  // Three for each core: of the two processes of an item one waits for the other, and both for the
  // ledger. With two, a tenth of the verdicts a second is lost (rfcs/0013).
  config.verify.items_alive = 3 * std::max(1u, std::thread::hardware_concurrency());
  return config;
}

std::size_t zygotes_for(std::size_t items_alive) {
  return 3 * items_alive;
}

void apply_config_file(std::string_view text, const std::string& file, DaemonConfig& config,
                       std::vector<kernel::Diagnostic>& diagnostics) {
  const std::size_t begin = diagnostics.size();
  auto reader = kernel::TomlReader::parse(text, file, diagnostics);
  if (!reader) return;
  read_path(*reader, "runtime_dir", config.runtime_directory);
  read_path(*reader, "state_dir", config.state_directory);
  read_path(*reader, "access", config.access_file);
  read_path(*reader, "cgroup_base", config.cgroup_base, kernel::no_cgroup_base);
  read_directories(*reader, "profiles", config.profile_directories);
  read_directories(*reader, "agents", config.agent_directories);
  read_directories(*reader, "runtimes", config.runtime_directories);
  if (const auto range_text = reader->text("", "host_uids")) {
    if (const auto range = parse_host_uids(*range_text)) {
      config.host_uids = *range;
    } else {
      reader->report(reader->place("", "host_uids"), range.error().message);
    }
  }
  read_limits(*reader, config);
  read_ledger(*reader, config);
  read_verify(*reader, config);
  read_tcp(*reader, config);
  reader->report_unknown_keys();
  kernel::sort_by_place(diagnostics, begin);
}

kernel::Result<std::vector<kernel::Diagnostic>> read_config_file(const std::string& file,
                                                                 DaemonConfig& config) {
  std::vector<kernel::Diagnostic> diagnostics;
  apply_config_file(TRY(kernel::read_file(file, kernel::toml_file_bytes_max)), file, config,
                    diagnostics);
  return diagnostics;
}

kernel::Result<kernel::HostUidRange> parse_host_uids(const std::string& text) {
  uid_t first = 0;
  uid_t last = 0;
  const char* const end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, first);
  const bool has_dash = parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '-';
  if (has_dash) parsed = std::from_chars(parsed.ptr + 1, end, last);
  if (!has_dash || parsed.ec != std::errc() || parsed.ptr != end)
    return kernel::fail(kernel::ErrorCode::invalid_request,
                        "host_uids '" + text + "' is not a range such as \"60578-61183\"");
  // The largest uid_t is none: setresuid(2) takes it for "leave it as it is", which is root.
  if (first == 0 || last < first || last == std::numeric_limits<uid_t>::max())
    return kernel::fail(kernel::ErrorCode::invalid_request,
                        "host_uids '" + text + "' must go upwards and leave out uid 0 and -1");
  return kernel::HostUidRange{.first = first, .count = last - first + 1};
}

}  // namespace paddock::supervisor
