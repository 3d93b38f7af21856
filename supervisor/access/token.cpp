#include "supervisor/access/token.hpp"

#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "kernel/policy/toml_directory.hpp"
#include "supervisor/http/request.hpp"
#include "supervisor/json/encoding.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

tl::unexpected<kernel::Error> wrong_file(const std::string& path, const std::string& why) {
  return fail(ErrorCode::io, fmt::format("token file '{}' {}", path, why));
}

// What may stand in a header as one word.
bool is_token(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool is_same(std::string_view left, std::string_view right) {
  return left.size() == right.size() && sodium_memcmp(left.data(), right.data(), left.size()) == 0;
}

// What follows "Scheme " in the header; nothing if it is of another scheme.
std::string_view credentials_of(std::string_view header, std::string_view scheme) {
  if (header.size() <= scheme.size() || header[scheme.size()] != ' ' ||
      !equal_ignoring_case(header.substr(0, scheme.size()), scheme))
    return {};
  header.remove_prefix(scheme.size());
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  return header;
}

}  // namespace

Result<std::string> read_token_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return wrong_file(path, "cannot be looked at: " + kernel::errno_text(errno));
  constexpr mode_t forbidden = 0137;  // the owner reads and writes, the group reads
  if ((status.st_mode & forbidden) != 0)
    return wrong_file(
        path, fmt::format("has mode {:04o}; chmod it to 0600 or 0640", status.st_mode & 07777));
  auto token = kernel::read_trusted_file(path);
  if (!token) return wrong_file(path, token.error().message);
  if (token->ends_with('\n')) token->pop_back();
  if (token->size() < token_bytes_min || token->size() > token_bytes_max)
    return wrong_file(path, fmt::format("holds {} bytes, and a token has {} to {}", token->size(),
                                        token_bytes_min, token_bytes_max));
  if (!is_token(*token))
    return wrong_file(path, "holds more than one word of printable ASCII characters");
  return token;
}

bool is_authorized(std::string_view authorization, std::string_view token) {
  if (const auto bearer = credentials_of(authorization, "Bearer"); !bearer.empty())
    return is_same(bearer, token);
  const auto basic = from_base64(credentials_of(authorization, "Basic"));
  if (!basic) return false;
  const std::size_t colon = basic->find(':');
  return colon != std::string::npos && is_same(std::string_view(*basic).substr(colon + 1), token);
}

}  // namespace paddock::supervisor
