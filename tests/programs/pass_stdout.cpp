// pass_stdout NAME: gives its standard output to whoever listens at that abstract socket, and ends.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "programs/answer.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string name = argv[1];
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  name.copy(to.sun_path + 1, sizeof to.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), size) != 0) return answer(false);

  char byte = 'x';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int passed = 1;
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  return answer(::sendmsg(fd, &message, 0) == 1);
}
