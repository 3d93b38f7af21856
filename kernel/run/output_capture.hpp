#pragma once
// One output stream of a run: the first `limit_bytes` of it are kept, all of it is counted. Nothing
// here ever makes the writer wait.

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::kernel {

class OutputCapture {
 public:
  explicit OutputCapture(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  void append(std::string_view bytes) {
    total_bytes_ += bytes.size();
    const std::uint64_t room = limit_bytes_ - kept_.size();
    kept_ += bytes.substr(0, bytes.size() < room ? bytes.size() : room);
  }

  std::uint64_t total_bytes() const { return total_bytes_; }
  bool truncated() const { return total_bytes_ > kept_.size(); }
  std::string take() { return std::move(kept_); }

 private:
  std::uint64_t limit_bytes_;
  std::uint64_t total_bytes_ = 0;
  std::string kept_;
};

}  // namespace paddock::kernel
