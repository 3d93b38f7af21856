#pragma once
// LockFile: only one process at a time changes a ledger, and the others can say which.

#include <string>

#include "kernel/base/error.hpp"
#include "kernel/base/fd.hpp"

namespace paddock::supervisor {

class LockFile {
 public:
  // Does not wait. Fails with not_recorded if somebody holds it, and names the pid. The file stays
  // when the lock is gone, empty: to delete it would let two hold it at once.
  static kernel::Result<LockFile> acquire(const std::string& path);
  LockFile(LockFile&&) noexcept = default;
  LockFile& operator=(LockFile&&) noexcept = default;
  ~LockFile();

 private:
  explicit LockFile(kernel::Fd fd) : fd_(std::move(fd)) {}

  kernel::Fd fd_;
};

}  // namespace paddock::supervisor
