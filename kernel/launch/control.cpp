#include "kernel/launch/control.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <errno.h>
#include <string.h>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/launch/process_state.hpp"

namespace paddock::launch {
namespace {

bool send_bytes(int socket, const void* bytes, size_t size, int fd) {
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof fd)] = {};
  iovec part{const_cast<void*>(bytes), size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary;
  header.msg_controllen = sizeof ancillary;
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fd);
  ::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  ssize_t count = 0;
  while ((count = ::sendmsg(socket, &header, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  return count == static_cast<ssize_t>(size);
}

}  // namespace

void send(const kernel::ControlMessage& message) {
  // MSG_NOSIGNAL: with the supervisor gone there is nobody to tell; the hang-up is handled
  // elsewhere.
  while (::send(kernel::fd_control, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void send_with_descriptor(const kernel::ControlMessage& message, int fd) {
  send_bytes(kernel::fd_control, &message, sizeof message, fd);
}

bool send_descriptor(int socket, int fd) {
  const char byte = 1;
  return send_bytes(socket, &byte, 1, fd);
}

size_t receive_with_descriptors(int socket, void* bytes, size_t size, int* descriptors,
                                size_t descriptors_max) {
  alignas(cmsghdr) char ancillary[CMSG_SPACE(kernel::fork_descriptors_max * sizeof(int))];
  iovec part{bytes, size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary;
  // Not CMSG_SPACE: its padding would have room for one more.
  header.msg_controllen = static_cast<socklen_t>(CMSG_LEN(descriptors_max * sizeof(int)));
  ssize_t count = 0;
  while ((count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (count != static_cast<ssize_t>(size)) return 0;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return 0;
  const size_t came = rights->cmsg_len - CMSG_LEN(0);
  ::memcpy(descriptors, CMSG_DATA(rights), came);
  return came / sizeof *descriptors;
}

int receive_descriptor(int socket) {
  char byte = 0;
  int fd = -1;
  return receive_with_descriptors(socket, &byte, 1, &fd, 1) == 1 ? fd : -1;
}

void die(const char* step, int error) {
  kernel::ControlMessage message{.kind = kernel::ControlKind::setup_failed, .error = error};
  ::strncpy(message.text, step, sizeof message.text - 1);
  send(message);
  // 0 tells the supervisor that no descendant is left, which is so if nothing was started yet.
  ::_exit(has_children() ? 1 : 0);
}

}  // namespace paddock::launch
