#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <stdint.h>

#include "kernel/probe/program/attempt.hpp"

namespace paddock::probe {

// Its own keyring: one that the user shares with all that runs under the same uid.
Attempted open_keyring(char**) {
  constexpr int get_id = 0;         // KEYCTL_GET_KEYRING_ID
  constexpr int user_keyring = -4;  // KEY_SPEC_USER_KEYRING
  return result_of(::syscall(SYS_keyctl, get_id, user_keyring, 1));
}

Attempted make_user_namespace(char**) {
  return result_of(::unshare(CLONE_NEWUSER));
}

Attempted set_up_io_uring(char**) {
  constexpr long io_uring_setup = 425;  // the same on every architecture
  uint64_t parameters[15] = {};         // struct io_uring_params, 120 bytes
  const long fd = ::syscall(io_uring_setup, 1, parameters);
  if (fd < 0) return was_refused();
  ::close(static_cast<int>(fd));
  return it_worked;
}

// getpid by the 32-bit entry, where every call has another number: a filter that does not look at
// the architecture is passed by.
Attempted call_int80(char**) {
#ifdef __x86_64__
  long returned = 20;
  __asm__ volatile("int $0x80" : "+a"(returned) : : "memory", "r8", "r9", "r10", "r11");
  if (returned > 0) return it_worked;
  errno = static_cast<int>(-returned);
  return was_refused();
#else
  return cannot_try("only x86-64 has a 32-bit entry of its own");
#endif
}

Attempted call_x32(char**) {
#ifdef __x86_64__
  constexpr long x32_bit = 0x40000000;
  return result_of(::syscall(x32_bit | SYS_getpid));
#else
  return cannot_try("only x86-64 has x32");
#endif
}

}  // namespace paddock::probe
