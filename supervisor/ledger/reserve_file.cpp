#include "supervisor/ledger/reserve_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/base/fd.hpp"

namespace paddock::supervisor {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

Result<void> ReserveFile::make() {
  if (is_made_) return {};
  const kernel::Fd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd)
    return fail(ErrorCode::not_recorded,
                "make the ledger's reserve '" + path_ + "': " + kernel::errno_text(errno));
  if (const int error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(reserve_bytes));
      error != 0) {
    ::unlink(path_.c_str());
    return fail(ErrorCode::not_recorded, "make the ledger's reserve '" + path_ + "' of " +
                                             std::to_string(reserve_bytes >> 20) +
                                             " MiB: " + kernel::errno_text(error));
  }
  is_made_ = true;
  return {};
}

void ReserveFile::remove() {
  ::unlink(path_.c_str());
  is_made_ = false;
}

}  // namespace paddock::supervisor
