#include "supervisor/ledger/lock_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Fd;
using kernel::Result;

// "process 123", or less where the holder has not written its pid yet.
std::string holder(const Fd& fd) {
  std::array<char, 24> buffer{};
  const ssize_t count = ::pread(fd.get(), buffer.data(), buffer.size(), 0);
  const std::string text(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::string pid = text.substr(0, text.find_first_not_of("0123456789"));
  return pid.empty() ? "another process" : "process " + pid;
}

}  // namespace

Result<LockFile> LockFile::acquire(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd)
    return fail(ErrorCode::not_recorded,
                "open the ledger's lock '" + path + "': " + kernel::errno_text(errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return fail(ErrorCode::not_recorded, holder(fd) + " has the ledger: it holds '" + path +
                                               "' (a paddockd, or paddock recover)");
    return fail(ErrorCode::not_recorded,
                "lock the ledger's '" + path + "': " + kernel::errno_text(errno));
  }
  // The pid is for people; the lock holds without it, on a full disk too.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) == 0) [[maybe_unused]]
    const ssize_t count = ::pwrite(fd.get(), pid.data(), pid.size(), 0);
  return LockFile(std::move(fd));
}

LockFile::~LockFile() {
  if (fd_) [[maybe_unused]]
    const int rc = ::ftruncate(fd_.get(), 0);
}

}  // namespace paddock::supervisor
