// connect_to tcp ADDRESS PORT | udp ADDRESS PORT | abstract NAME: tries to connect.
// UDP sends nothing: connect(2) only asks for a route.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include "programs/answer.hpp"

namespace {

bool connect_inet(int type, const char* address, const char* port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  ::inet_pton(AF_INET, address, &to.sin_addr);
  const int fd = ::socket(AF_INET, type, 0);
  return fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

bool connect_abstract(const std::string& name) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  name.copy(to.sun_path + 1, sizeof to.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&to), size) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "tcp" && argc == 4) return answer(connect_inet(SOCK_STREAM, argv[2], argv[3]));
  if (kind == "udp" && argc == 4) return answer(connect_inet(SOCK_DGRAM, argv[2], argv[3]));
  if (kind == "abstract" && argc == 3) return answer(connect_abstract(argv[2]));
  return 2;
}
