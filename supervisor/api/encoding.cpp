#include "supervisor/api/encoding.hpp"

#include <sodium.h>

#include <nlohmann/json.hpp>

namespace paddock::supervisor {

bool is_utf8(std::string_view bytes) {
  // nlohmann's serializer has the decoder; strict means that it throws on anything malformed.
  try {
    const nlohmann::json probe(bytes);
    [[maybe_unused]] const std::string text =
        probe.dump(-1, ' ', false, nlohmann::json::error_handler_t::strict);
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::string to_base64(std::string_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // libsodium's terminator
  return text;
}

kernel::Result<std::string> from_base64(std::string_view text) {
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
