#pragma once
// Where paddock's files are when nobody says otherwise: for root as a system service has them, for
// an ordinary user in the XDG base directories.

#include <string>
#include <vector>

namespace paddock::supervisor {

// /run/paddock, or $XDG_RUNTIME_DIR/paddock, or "run" in the state directory where there is no
// XDG_RUNTIME_DIR: not in /tmp, where anybody can be first.
std::string default_runtime_directory();

// /var/lib/paddock, or $XDG_STATE_HOME/paddock, or ~/.local/state/paddock.
std::string default_state_directory();

// The shipped directory, found beside the running executable, then /etc/paddock/KIND, then for an
// ordinary user $XDG_CONFIG_HOME/paddock/KIND; the last two only if they exist. `kind` is
// "profiles", "agents" or "runtimes".
std::vector<std::string> default_catalog_directories(const std::string& kind);

// Where access.toml is looked for: of an ordinary user's daemon $XDG_CONFIG_HOME/paddock first,
// then /etc/paddock. Whether it exists is asked when it is read.
std::vector<std::string> default_access_files();

std::string main_socket_path(const std::string& runtime_directory);
std::string trainer_socket_path(const std::string& runtime_directory);

}  // namespace paddock::supervisor
