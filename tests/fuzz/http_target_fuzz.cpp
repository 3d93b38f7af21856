// Goal: a request target means the same to everybody who reads it. Method: what is accepted is
// printed with every byte percent-encoded, and must be read as the same path and query again.

#include "fuzz/property.hpp"
#include "supervisor/http/target.hpp"

namespace {

using namespace paddock::supervisor;
using paddock::fuzz::must_hold;

std::string encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += digits[byte / 16];
    out += digits[byte % 16];
  }
  return out;
}

std::string printed(const Target& target) {
  std::string out = "/" + encoded(std::string_view(target.path).substr(1));
  char separator = '?';
  for (const auto& [name, value] : target.query) {
    out += separator + encoded(name) + "=" + encoded(value);
    separator = '&';
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto target = parse_target(paddock::fuzz::as_text(data, size));
  if (!target) {
    must_hold(target.error().status == 400 && !target.error().message.empty(),
              "a refused target is a bad request with a reason");
    return 0;
  }
  must_hold(target->path.starts_with('/'), "an accepted path starts with '/'");
  must_hold(target->path.find('\0') == std::string::npos, "an accepted path has no NUL");
  for (const auto& [name, value] : target->query)
    must_hold((name + value).find('\0') == std::string::npos, "an accepted query has no NUL");
  const std::string text = printed(*target);
  const auto again = parse_target(text);
  must_hold(again && *again == *target, "a printed target is read as itself", text);
  return 0;
}
