#include "escapes/attempts/sockets.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>

namespace paddock::escapes {
namespace {

struct UnixAddress {
  sockaddr_un address{};
  socklen_t size = 0;
};

UnixAddress unix_address(Naming naming, const std::string& name) {
  UnixAddress made;
  made.address.sun_family = AF_UNIX;
  const std::size_t skip = naming == Naming::abstract ? 1 : 0;
  const std::size_t length = std::min(name.size(), sizeof made.address.sun_path - 1);
  name.copy(made.address.sun_path + skip, length);
  made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length + 1);
  return made;
}

sockaddr_in inet_address(const char* address, int port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address, &made.sin_addr);
  return made;
}

template <class Address>
const sockaddr* generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

int connect_unix(Naming naming, const std::string& name, int type) {
  const UnixAddress to = unix_address(naming, name);
  const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  return fd >= 0 && ::connect(fd, generic(to.address), to.size) == 0 ? fd : -1;
}

int listen_unix(Naming naming, const std::string& name) {
  const UnixAddress at = unix_address(naming, name);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool listening =
      fd >= 0 && ::bind(fd, generic(at.address), at.size) == 0 && ::listen(fd, 8) == 0;
  return listening ? fd : -1;
}

int connect_inet(int type, const char* address, int port) {
  const sockaddr_in to = inet_address(address, port);
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  return fd >= 0 && ::connect(fd, generic(to), sizeof to) == 0 ? fd : -1;
}

int connect_inet6_loopback(int port) {
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(static_cast<std::uint16_t>(port));
  to.sin6_addr = in6addr_loopback;
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return fd >= 0 && ::connect(fd, generic(to), sizeof to) == 0 ? fd : -1;
}

int listen_inet(int port) {
  const sockaddr_in at = inet_address("127.0.0.1", port);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  const bool listening = fd >= 0 &&
                         ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                         ::bind(fd, generic(at), sizeof at) == 0 && ::listen(fd, 8) == 0;
  return listening ? fd : -1;
}

}  // namespace paddock::escapes
