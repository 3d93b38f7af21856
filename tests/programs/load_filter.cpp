// load_filter FILE PROGRAM [ARGUMENT...]: executes PROGRAM under the seccomp filter in FILE.

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  static sock_filter instructions[BPF_MAXINSNS];
  const int file = ::open(argv[1], O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = ::read(file, instructions, sizeof instructions);
  if (bytes <= 0) {
    std::perror(argv[1]);
    return 2;
  }
  const sock_fprog program{
      .len = static_cast<unsigned short>(static_cast<std::size_t>(bytes) / sizeof(sock_filter)),
      .filter = instructions};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    std::perror("load the filter");
    return 2;
  }
  ::execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 127;
}
