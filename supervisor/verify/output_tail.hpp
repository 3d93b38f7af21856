#pragma once
// OutputTail: the end of a stream, whatever the run table keeps of it.

#include <cstddef>
#include <string>
#include <string_view>

namespace paddock::supervisor {

constexpr std::size_t output_tail_bytes_max = 4096;

class OutputTail {
 public:
  void append(std::string_view bytes) {
    if (bytes.size() > output_tail_bytes_max)
      bytes.remove_prefix(bytes.size() - output_tail_bytes_max);
    kept_ += bytes;
    if (kept_.size() > 2 * output_tail_bytes_max)
      kept_.erase(0, kept_.size() - output_tail_bytes_max);
  }

  // From the start of a character, if it is UTF-8.
  std::string text() const {
    if (kept_.size() <= output_tail_bytes_max) return kept_;
    std::size_t start = kept_.size() - output_tail_bytes_max;
    constexpr std::size_t continuation_max = 3;
    for (std::size_t i = 0; i < continuation_max; ++i)
      if ((static_cast<unsigned char>(kept_[start]) & 0xC0u) == 0x80u) ++start;
    return kept_.substr(start);
  }

 private:
  std::string kept_;
};

}  // namespace paddock::supervisor
