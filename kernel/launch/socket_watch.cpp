#include "kernel/launch/socket_watch.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/launch/control.hpp"

namespace paddock::launch {
namespace {

#if defined(__x86_64__)
constexpr unsigned own_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned own_architecture = AUDIT_ARCH_AARCH64;
#endif

// linux/seccomp.h has them since 6.6: SECCOMP_IOCTL_NOTIF_SET_FLAGS and its one flag.
constexpr unsigned long set_flags = _IOW('!', 4, uint64_t);
constexpr unsigned long sync_wake_up = 1;

}  // namespace

// The run's own filter comes after it and kills what calls by another architecture's numbers; and
// where it refuses a call, that wins.
void watch_sockets(int gate) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
  };
  const sock_fprog program{sizeof code / sizeof *code, code};
  const int listener = static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
  if (listener < 0) die("watch sockets", errno);
  if (!send_descriptor(gate, listener)) die("hand over the listener", errno);
  ::close(listener);
}

int receive_listener(int gate) {
  const int listener = receive_descriptor(gate);
  if (listener < 0) die("receive the listener", EPROTO);
  // The caller waits for the answer, so both go on the same CPU. Linux 6.6; before it calls are
  // slower.
  ::syscall(SYS_ioctl, listener, set_flags, sync_wake_up);
  return listener;
}

void let_socket_go_on(int listener) {
  seccomp_notif call{};
  // Not ioctl(), whose request is an int in one C library and an unsigned long in the other.
  if (::syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;  // gone
  seccomp_notif_resp answer{};
  answer.id = call.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace paddock::launch
