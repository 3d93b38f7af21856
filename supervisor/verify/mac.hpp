#pragma once
// The message authentication code of a verdict: HMAC-SHA-256 over what it says and about what.

#include <array>
#include <cstddef>
#include <string>

#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {

constexpr std::size_t mac_key_bytes = 32;

struct MacKey {
  std::string id;  // the first 16 hexadecimal digits of the key's SHA-256
  std::array<unsigned char, mac_key_bytes> bytes{};

  bool operator==(const MacKey&) const = default;
};

// What the code is made over (RFC 0010): lines, each ended by a newline. No field holds one:
// parse_items has refused those.
std::string mac_text(const ItemAnswer& answer);

// In hex, 64 characters.
std::string mac_of(const ItemAnswer& answer, const MacKey& key);

}  // namespace paddock::supervisor
