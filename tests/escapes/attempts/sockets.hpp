#pragma once
// Addresses and sockets, for the attempts on the network and the channels between runs.

#include <string>

namespace paddock::escapes {

enum class Naming { abstract, pathname };

// -1 and errno. `type` is SOCK_STREAM or SOCK_DGRAM.
int connect_unix(Naming naming, const std::string& name, int type);
int listen_unix(Naming naming, const std::string& name);
int connect_inet(int type, const char* address, int port);
int connect_inet6_loopback(int port);
// Of 127.0.0.1; port 0: any.
int listen_inet(int port);

}  // namespace paddock::escapes
