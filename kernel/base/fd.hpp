#pragma once
// Fd owns one file descriptor and closes it.

#include <unistd.h>

#include <string_view>
#include <utility>

#include "kernel/base/error.hpp"

namespace paddock::kernel {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close(); }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read_end;
  Fd write_end;
};

// Both ends close-on-exec and blocking.
Result<Pipe> make_pipe();

// An anonymous file that holds `bytes`, read-only from now on (sealed), positioned at its start.
Result<Fd> memory_file(std::string_view name, std::string_view bytes);

// The same, executable, for execveat.
Result<Fd> executable_memory_file(std::string_view name, std::string_view bytes);

// The whole file at `path`, at most `limit_bytes` of it (then: an error, never a truncated value).
Result<std::string> read_file(const std::string& path, std::size_t limit_bytes);

// The same for a path below an open directory.
Result<std::string> read_file_at(const Fd& directory, const std::string& path,
                                 std::size_t limit_bytes);

}  // namespace paddock::kernel
