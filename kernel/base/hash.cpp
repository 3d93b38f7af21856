#include "kernel/base/hash.hpp"

#include <sodium.h>

#include <array>

#include <fmt/format.h>

namespace paddock::kernel {
namespace {

using Digest = std::array<unsigned char, crypto_hash_sha256_BYTES>;

std::string text_of(const Digest& digest) {
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Digest digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  return text_of(digest);
}

struct Sha256::State {
  crypto_hash_sha256_state sodium;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  crypto_hash_sha256_init(&state_->sodium);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::append(std::string_view bytes) {
  crypto_hash_sha256_update(&state_->sodium, reinterpret_cast<const unsigned char*>(bytes.data()),
                            bytes.size());
}

std::string Sha256::hex() const {
  State copy = *state_;  // the end of one cannot be taken back
  Digest digest{};
  crypto_hash_sha256_final(&copy.sodium, digest.data());
  return text_of(digest);
}

}  // namespace paddock::kernel
