#include "kernel/launch/control.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <errno.h>
#include <string.h>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/launch/process_state.hpp"

namespace paddock::launch {

void send(const kernel::ControlMessage& message) {
  // MSG_NOSIGNAL: with the supervisor gone there is nobody to tell; the hang-up is handled
  // elsewhere.
  while (::send(kernel::fd_control, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void send_with_descriptor(const kernel::ControlMessage& message, int fd) {
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof fd)] = {};
  iovec part{const_cast<kernel::ControlMessage*>(&message), sizeof message};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary;
  header.msg_controllen = sizeof ancillary;
  cmsghdr* const descriptors = CMSG_FIRSTHDR(&header);
  descriptors->cmsg_level = SOL_SOCKET;
  descriptors->cmsg_type = SCM_RIGHTS;
  descriptors->cmsg_len = CMSG_LEN(sizeof fd);
  ::memcpy(CMSG_DATA(descriptors), &fd, sizeof fd);
  while (::sendmsg(kernel::fd_control, &header, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void die(const char* step, int error) {
  kernel::ControlMessage message{.kind = kernel::ControlKind::setup_failed, .error = error};
  ::strncpy(message.text, step, sizeof message.text - 1);
  send(message);
  // 0 tells the supervisor that no descendant is left, which is so if nothing was started yet.
  ::_exit(has_children() ? 1 : 0);
}

}  // namespace paddock::launch
