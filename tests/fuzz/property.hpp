#pragma once
// What the fuzz targets share: how a broken property ends the process, so that libFuzzer keeps the
// input, and how one input is cut into several values.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace paddock::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// `property` is a sentence about what holds for every input.
inline void must_hold(bool holds, const char* property, std::string_view detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n%.*s\n", property, static_cast<int>(detail.size()),
               detail.data());
  std::abort();
}

// Cuts an input into pieces: numbers of one byte, and texts that end at a NUL.
class Pieces {
 public:
  explicit Pieces(std::string_view input) : rest_(input) {}

  bool empty() const { return rest_.empty(); }
  unsigned number() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  std::string text() {
    const std::string_view piece = rest_.substr(0, rest_.find('\0'));
    rest_.remove_prefix(piece.size() < rest_.size() ? piece.size() + 1 : rest_.size());
    return std::string(piece);
  }
  std::string bytes(std::size_t most) {
    const std::string_view piece = rest_.substr(0, most);
    rest_.remove_prefix(piece.size());
    return std::string(piece);
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace paddock::fuzz
