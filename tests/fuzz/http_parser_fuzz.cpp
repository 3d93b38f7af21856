// Goal: no bytes crash the request parser, and what comes of them does not depend on how they are
// split: two readers that disagree about where a request ends are how requests are smuggled.
// Method: the first byte of the input is the size of the pieces; the whole input is fed once at
// once and once in pieces, and the requests and the final error must be the same. One exception: a
// chunk header over its limit that comes at once, with its end, is let through.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/http/parser.hpp"

namespace {

using namespace paddock::supervisor;

constexpr ParserLimits limits{.header_bytes_max = 1024, .body_bytes_max = 4096};

struct Outcome {
  std::vector<HttpRequest> requests;
  int error_status = 0;

  bool operator==(const Outcome&) const = default;
};

Outcome parse(std::string_view bytes, std::size_t piece_size) {
  RequestParser parser(limits);
  Outcome outcome;
  while (!bytes.empty() && parser.state() != RequestParser::State::failed) {
    bytes.remove_prefix(parser.feed(bytes.substr(0, piece_size)));
    if (parser.state() == RequestParser::State::complete) outcome.requests.push_back(parser.take());
  }
  if (parser.state() == RequestParser::State::failed) outcome.error_status = parser.error().status;
  return outcome;
}

// Whether one of the two is the other, cut short by the limit on chunk headers.
bool differ_by_limit_only(const Outcome& left, const Outcome& right) {
  if (left.error_status != 431 && right.error_status != 431) return false;
  const std::size_t common = std::min(left.requests.size(), right.requests.size());
  return std::equal(left.requests.begin(),
                    left.requests.begin() + static_cast<std::ptrdiff_t>(common),
                    right.requests.begin());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece_size = 1 + data[0] % 64u;
  const Outcome whole = parse(bytes, bytes.size());
  const Outcome pieces = parse(bytes, piece_size);
  if (whole != pieces && !differ_by_limit_only(whole, pieces)) std::abort();
  return 0;
}
