#include "supervisor/verify/mac.hpp"

#include <sodium.h>

#include <cassert>

#include <fmt/format.h>

namespace paddock::supervisor {

static_assert(mac_key_bytes == crypto_auth_hmacsha256_KEYBYTES);

std::string mac_text(const ItemAnswer& answer) {
  std::string text;
  const auto line = [&text](std::string_view field) {
    assert(field.find('\n') == std::string_view::npos);
    text += field;
    text += '\n';
  };
  line("paddock-verdict-1");
  line(answer.nonce);
  line(answer.id);
  line(answer.code_hash);
  line(answer.tests_hash);
  line(answer.policy_hash);
  line(name_of(answer.integrity));
  line(name_of(answer.verdict));
  line(answer.reward ? fmt::format("{:.17g}", *answer.reward) : "null");
  return text;
}

std::string mac_of(const ItemAnswer& answer, const MacKey& key) {
  const std::string text = mac_text(answer);
  std::array<unsigned char, crypto_auth_hmacsha256_BYTES> code{};
  crypto_auth_hmacsha256(code.data(), reinterpret_cast<const unsigned char*>(text.data()),
                         text.size(), key.bytes.data());
  return fmt::format("{:02x}", fmt::join(code, ""));
}

}  // namespace paddock::supervisor
