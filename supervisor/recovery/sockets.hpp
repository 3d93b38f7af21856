#pragma once
// Sockets of a daemon that is gone.

#include <string>
#include <string_view>

namespace paddock::supervisor {

// Is a socket with this path listed in the text of /proc/net/unix? Pure.
bool is_bound(std::string_view proc_net_unix, std::string_view path);

// Removes the socket file at `path` unless a process, or a service manager for it, still has the
// socket. Without asking it: to connect would make a service manager start the daemon. True if it
// was removed.
bool remove_stale_socket(const std::string& path);

}  // namespace paddock::supervisor
