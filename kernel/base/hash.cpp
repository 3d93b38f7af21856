#include "kernel/base/hash.hpp"

#include <nettle/sha2.h>

#include <array>
#include <cstdint>

namespace paddock::kernel {
namespace {

std::string finish(sha256_ctx& context) {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  nettle_sha256_digest(&context, digest.size(), digest.data());
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 0xf];
  }
  return text;
}

void update(sha256_ctx& context, std::string_view bytes) {
  nettle_sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  sha256_ctx context;
  nettle_sha256_init(&context);
  update(context, bytes);
  return finish(context);
}

struct Sha256::State {
  sha256_ctx nettle;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  nettle_sha256_init(&state_->nettle);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::append(std::string_view bytes) {
  update(state_->nettle, bytes);
}

std::string Sha256::hex() const {
  sha256_ctx copy = state_->nettle;  // the end of one cannot be taken back
  return finish(copy);
}

}  // namespace paddock::kernel
