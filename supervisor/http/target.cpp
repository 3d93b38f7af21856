#include "supervisor/http/target.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace paddock::supervisor {
namespace {

tl::unexpected<HttpError> bad_request(std::string message) {
  return tl::unexpected<HttpError>(HttpError{400, std::move(message)});
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

enum class Plus { is_itself, is_space };

// nullopt for a wrong escape and for NUL, which would end the string early in any C interface.
std::optional<std::string> percent_decode(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::is_space) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      if (text.size() - i < 3) return std::nullopt;
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (!high || !low || (*high == 0 && *low == 0)) return std::nullopt;
      decoded += static_cast<char>(*high * 16 + *low);
      i += 2;
    }
  }
  return decoded;
}

}  // namespace

tl::expected<Target, HttpError> parse_target(std::string_view target) {
  if (target.empty() || target.front() != '/')
    return bad_request("the request target must start with '/'");
  if (!std::all_of(target.begin(), target.end(),
                   [](char c) { return c > ' ' && c < '\x7f' && c != '#'; }))
    return bad_request("the request target has a character that must be percent-encoded");

  const std::size_t mark = target.find('?');
  const auto path = percent_decode(target.substr(0, mark), Plus::is_itself);
  if (!path) return bad_request("the path has a wrong percent-encoding");
  Target result{.path = *path, .query = {}};
  std::string_view rest =
      mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view parameter = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), parameter.size() + 1));
    if (parameter.empty()) continue;
    const std::size_t equals = parameter.find('=');
    const auto name = percent_decode(parameter.substr(0, equals), Plus::is_space);
    const auto value = percent_decode(
        equals == std::string_view::npos ? std::string_view{} : parameter.substr(equals + 1),
        Plus::is_space);
    if (!name || !value) return bad_request("the query has a wrong percent-encoding");
    if (!result.query.emplace(*name, *value).second)
      return bad_request("the query parameter '" + *name + "' is given twice");
  }
  return result;
}

}  // namespace paddock::supervisor
