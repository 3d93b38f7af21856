#pragma once
// Hashes, as text.

#include <memory>
#include <string>
#include <string_view>

namespace paddock::kernel {

std::string sha256_hex(std::string_view bytes);  // 64 characters

// The same of what comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void append(std::string_view bytes);
  std::string hex() const;  // of what was appended until now

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paddock::kernel
