// Goal: a config file is applied as it says, or what is wrong with it is said; its numbers stay
// within what the daemon can use.

#include "fuzz/property.hpp"
#include "supervisor/daemon/daemon_config.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using fuzz::must_hold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  DaemonConfig config;
  config.runtime_directory = config.state_directory = "/run/paddock";
  std::vector<kernel::Diagnostic> diagnostics;
  apply_config_file(fuzz::as_text(data, size), "fuzz.toml", config, diagnostics);
  for (const kernel::Diagnostic& diagnostic : diagnostics)
    must_hold(!diagnostic.message.empty(), "a mistake has a reason");
  must_hold(config.runtime_directory.starts_with('/') && config.state_directory.starts_with('/'),
            "directories are absolute");
  must_hold(config.runs.alive_max >= 1 && config.runs.queued_max >= 1 &&
                config.connections_max >= 1 && config.body_bytes_max >= 1,
            "every limit is at least 1");
  must_hold(config.host_uids.first != 0 && config.host_uids.count >= 1, "no run gets uid 0");
  must_hold(config.host_uids.first + (config.host_uids.count - 1) >= config.host_uids.first &&
                config.host_uids.first + (config.host_uids.count - 1) != ~uid_t{0},
            "no run gets uid -1");
  if (!diagnostics.empty()) return 0;
  for (const std::string& directory : config.profile_directories)
    must_hold(directory.starts_with('/'), "accepted directories are absolute");
  return 0;
}
