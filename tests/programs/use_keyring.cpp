// use_keyring NAME: tries to read the key NAME through the session keyring, and prints it.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "programs/answer.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  constexpr int keyctl_search = 10;
  constexpr int keyctl_read = 11;
  constexpr int session_keyring = -3;
  const long key = ::syscall(SYS_keyctl, keyctl_search, session_keyring, "user", argv[1], 0);
  char value[64] = {};
  const bool read =
      key >= 0 && ::syscall(SYS_keyctl, keyctl_read, key, value, sizeof value - 1) > 0;
  if (read) std::puts(value);
  return answer(read);
}
