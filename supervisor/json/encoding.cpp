#include "supervisor/json/encoding.hpp"

#include <sodium.h>

#include <algorithm>

namespace paddock::supervisor {

namespace {

constexpr std::size_t escapes_matter_bytes = 32 * 1024;
constexpr std::size_t bytes_per_control_character = 16;  // about what base64 costs as well

// What may follow a lead byte, from the table in RFC 3629, section 4.
struct Sequence {
  std::size_t following = 0;          // 0: it is no lead byte
  unsigned char second_least = 0x80;  // some narrow the second byte: overlong forms, surrogates
  unsigned char second_most = 0xbf;
};

Sequence sequence_after(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return {1};
  if (lead == 0xe0) return {2, 0xa0, 0xbf};
  if (lead == 0xed) return {2, 0x80, 0x9f};
  if (lead >= 0xe1 && lead <= 0xef) return {2};
  if (lead == 0xf0) return {3, 0x90, 0xbf};
  if (lead >= 0xf1 && lead <= 0xf3) return {3};
  if (lead == 0xf4) return {3, 0x80, 0x8f};
  return {};
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (byte(at) < 0x80) continue;
    const Sequence sequence = sequence_after(byte(at));
    if (sequence.following == 0 || at + sequence.following >= bytes.size()) return false;
    const unsigned char second = byte(at + 1);
    if (second < sequence.second_least || second > sequence.second_most) return false;
    for (std::size_t i = 2; i <= sequence.following; ++i)
      if ((byte(at + i) & 0xc0) != 0x80) return false;
    at += sequence.following;
  }
  return true;
}

bool goes_as_text(std::string_view bytes) {
  if (!is_utf8(bytes)) return false;
  if (bytes.size() <= escapes_matter_bytes) return true;
  const auto controls = std::count_if(bytes.begin(), bytes.end(), is_control);
  return static_cast<std::size_t>(controls) <= bytes.size() / bytes_per_control_character;
}

std::string to_base64(std::string_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // libsodium's terminator
  return text;
}

kernel::Result<std::string> from_base64(std::string_view text) {
  // libsodium 1.0.18 takes some bytes beyond ASCII for digits.
  if (std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; }))
    return kernel::fail(kernel::ErrorCode::invalid_request, "not valid base64");
  std::string bytes(text.size() / 4 * 3 + 3, '\0');
  std::size_t size = 0;
  const char* end = nullptr;
  const int rc =
      sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &size, &end, sodium_base64_VARIANT_ORIGINAL);
  if (rc != 0 || end != text.data() + text.size())
    return kernel::fail(kernel::ErrorCode::invalid_request, "not valid base64");
  bytes.resize(size);
  return bytes;
}

}  // namespace paddock::supervisor
