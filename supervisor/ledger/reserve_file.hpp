#pragma once
// ReserveFile: room on the disk that is given up when there is no other, for what must be written.

#include <cstdint>
#include <string>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

constexpr std::uint64_t reserve_bytes = 8u << 20;

class ReserveFile {
 public:
  explicit ReserveFile(std::string path) : path_(std::move(path)) {}

  // Allocates it in full, not as a hole; nothing to do if that is so. Fails with not_recorded, and
  // then takes no room.
  kernel::Result<void> make();
  void remove();
  // False once it was removed and is not made again.
  bool is_made() const { return is_made_; }

 private:
  std::string path_;
  bool is_made_ = false;
};

}  // namespace paddock::supervisor
