// without_calls ERRNO CALL[,CALL...] COMMAND...: runs COMMAND where each CALL fails with ERRNO, as
// on a kernel that does not have it or behind a container's filter. Everything that COMMAND starts
// inherits that.

#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

int errno_of(const std::string& name) {
  for (const int error : {ENOSYS, EPERM, ENOMEM, EINTR, EAGAIN})
    if (name == ::strerrorname_np(error)) return error;
  return 0;
}

// A call that libseccomp does not know is no call of this machine, or a spelling mistake.
bool forbid(scmp_filter_ctx filter, const std::string& calls, int error) {
  for (std::size_t begin = 0; begin < calls.size();) {
    const std::size_t end = std::min(calls.find(',', begin), calls.size());
    const int number = ::seccomp_syscall_resolve_name(calls.substr(begin, end - begin).c_str());
    const auto answer = SCMP_ACT_ERRNO(static_cast<unsigned>(error));
    if (number < 0 || ::seccomp_rule_add(filter, answer, number, 0) != 0) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int error = argc < 4 ? 0 : errno_of(argv[1]);
  if (error == 0) {
    std::fputs("usage: without_calls ERRNO CALL[,CALL...] COMMAND...\n", stderr);
    return 2;
  }
  const scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
  // Root keeps the right to gain privileges, as in a container.
  ::seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, ::geteuid() == 0 ? 0 : 1);
  if (!forbid(filter, argv[2], error) || ::seccomp_load(filter) != 0) {
    std::fprintf(stderr, "without_calls: no such filter: %s\n", argv[2]);
    return 2;
  }
  ::execv(argv[3], argv + 3);
  std::perror(argv[3]);
  return 2;
}
