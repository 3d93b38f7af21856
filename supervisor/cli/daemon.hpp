#pragma once
// The daemon as the CLI sees it: where its socket is, and what its error answers mean.

#include <optional>
#include <string>

#include "supervisor/cli/client.hpp"
#include "supervisor/cli/options.hpp"

namespace paddock::supervisor::cli {

struct DaemonAddress {
  std::string socket;
  std::string named_by;  // "--socket" or "PADDOCK_SOCKET"; empty: the default place
};

// --socket, else $PADDOCK_SOCKET, else paddock.sock in the default runtime directory.
DaemonAddress daemon_address(const GlobalOptions& options);

// Nothing if no daemon runs at the default place. A daemon that was named and is not there is an
// error, and so is a default socket that somebody else than this user or root could have made.
kernel::Result<std::optional<Client>> find_daemon(const GlobalOptions& options);

// For commands that are nothing without a daemon.
kernel::Result<Client> require_daemon(const GlobalOptions& options, const std::string& command);

// Fails with invalid_request: only what looks like a name may become part of a path.
kernel::Result<void> check_agent_name(const std::string& agent);

// The error that an answer other than 2xx carries.
kernel::Error error_of(const HttpResponse& response);

// request(), with an answer other than 2xx as the error that it is.
kernel::Result<std::string> ask(Client& client, std::string_view method, std::string_view target,
                                std::string_view body = {});

}  // namespace paddock::supervisor::cli
