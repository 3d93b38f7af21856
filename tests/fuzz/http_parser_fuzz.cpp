// Goal: no bytes crash the request parser, and which requests it finds in them does not depend on
// how they are split: two readers that disagree about where a request ends are how requests are
// smuggled.
// Method: the first byte of the input is the size of the pieces. The rest is fed once at once and
// once in pieces; both must find the same requests, up to where either fails. Where it fails may
// differ: a chunk header over its limit that comes with its end is let through, and Beast gives up
// sooner or later on a malformed one.

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

const ParserLimits limits{.header_bytes_max = 1024, .body_bytes_max = 4096};

struct Outcome {
  std::vector<HttpRequest> requests;
  bool has_failed = false;
};

Outcome parse(std::string_view bytes, std::size_t piece_size) {
  RequestParser parser(limits);
  Outcome outcome;
  while (!bytes.empty() && parser.state() != RequestParser::State::failed) {
    bytes.remove_prefix(parser.feed(bytes.substr(0, piece_size)));
    if (parser.state() == RequestParser::State::complete) outcome.requests.push_back(parser.take());
  }
  outcome.has_failed = parser.state() == RequestParser::State::failed;
  return outcome;
}

bool agree(const Outcome& left, const Outcome& right) {
  if (left.requests.size() > right.requests.size()) return agree(right, left);
  return std::equal(left.requests.begin(), left.requests.end(), right.requests.begin()) &&
         (left.requests.size() == right.requests.size() || left.has_failed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece_size = 1 + data[0] % 64u;
  if (!agree(parse(bytes, bytes.size()), parse(bytes, piece_size))) std::abort();
  return 0;
}
