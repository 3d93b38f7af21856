#include "supervisor/ledger/fields.hpp"

#include <charconv>

namespace paddock::supervisor {

void append_field(std::string& bytes, std::string_view field) {
  bytes += std::to_string(field.size());
  bytes += ':';
  bytes += field;
  bytes += ',';
}

std::optional<std::string> take_field(std::string_view& bytes) {
  std::size_t length = 0;
  const char* const end = bytes.data() + bytes.size();
  const auto [at, error] = std::from_chars(bytes.data(), end, length);
  if (error != std::errc() || at == end || *at != ':') return std::nullopt;
  const std::string_view rest = bytes.substr(static_cast<std::size_t>(at - bytes.data()) + 1);
  if (length >= rest.size() || rest[length] != ',') return std::nullopt;
  bytes = rest.substr(length + 1);
  return std::string(rest.substr(0, length));
}

}  // namespace paddock::supervisor
