#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <stddef.h>
#include <string.h>

#include "kernel/probe/program/attempt.hpp"

namespace paddock::probe {
namespace {

Attempted connect_to(int family, const void* address, socklen_t size) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return was_refused();
  const Attempted attempted = result_of(::connect(fd, static_cast<const sockaddr*>(address), size));
  ::close(fd);
  return attempted;
}

}  // namespace

Attempted connect_tcp(char** words) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(number(words[1])));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect_to(AF_INET, &address, sizeof address);
}

// The name begins with a NUL, which no path does: it is looked up in the network namespace.
Attempted connect_abstract(char** words) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ::strncpy(address.sun_path + 1, words[1], sizeof address.sun_path - 2);
  return connect_to(
      AF_UNIX, &address,
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + ::strlen(words[1])));
}

Attempted make_socket(char** words) {
  const int fd = ::socket(static_cast<int>(number(words[1])),
                          static_cast<int>(number(words[2])) | SOCK_CLOEXEC,
                          static_cast<int>(number(words[3])));
  if (fd < 0) return was_refused();
  ::close(fd);
  return it_worked;
}

}  // namespace paddock::probe
