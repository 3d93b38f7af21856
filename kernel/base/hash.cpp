#include "kernel/base/hash.hpp"

#include <sodium.h>

#include <array>

#include <fmt/format.h>

namespace paddock::kernel {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace paddock::kernel
