// Goal: whatever goes into a response, whole or in chunks, a client reads one response with that
// body, and no header that was not put in. Method: Boost.Beast reads back what was serialised, as
// the CLI does.

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "fuzz/property.hpp"
#include "supervisor/http/response.hpp"

namespace {

namespace beast_http = boost::beast::http;
using namespace paddock::supervisor;
using paddock::fuzz::must_hold;
using paddock::fuzz::Pieces;

struct Received {
  unsigned status = 0;
  std::string body;
  std::size_t fields = 0;
};

Received receive(const std::string& bytes, bool answers_head) {
  beast_http::response_parser<beast_http::string_body> parser;
  parser.eager(true);
  parser.skip(answers_head);
  parser.header_limit(1u << 20);
  boost::beast::error_code error;
  std::size_t used = 0;
  while (!parser.is_done() && used < bytes.size()) {
    used += parser.put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
    must_hold(!error, "a client can read the response", bytes);
  }
  if (!parser.is_done()) parser.put_eof(error);
  must_hold(!error && parser.is_done(), "the response has an end", bytes);
  must_hold(used == bytes.size(), "nothing follows the response", bytes);
  const auto& message = parser.get();
  return {message.result_int(), message.body(),
          static_cast<std::size_t>(std::distance(message.begin(), message.end()))};
}

// As the API's code writes them: names are its own, values may come from anywhere.
std::vector<HeaderField> headers_of(Pieces& pieces) {
  std::vector<HeaderField> headers;
  for (unsigned count = pieces.number() % 4; count > 0; --count)
    headers.emplace_back("X-Name-" + std::to_string(count), pieces.text());
  return headers;
}

void check_whole(Pieces& pieces) {
  Response response;
  response.status = static_cast<int>(200 + pieces.number() % 200);
  const bool is_head = pieces.number() % 4 == 0;
  response.content_type = pieces.text();
  response.headers = headers_of(pieces);
  response.body = std::string(pieces.rest());
  const bool has_body = response.status != 204 && response.status != 304;
  const Received received =
      receive(serialize(response, is_head ? "HEAD" : "GET", ConnectionAfter::keep_alive), is_head);
  must_hold(received.status == static_cast<unsigned>(response.status), "the status is the same");
  must_hold(received.body == (has_body && !is_head ? response.body : ""), "the body is the same");
  const std::size_t own = has_body ? (response.content_type.empty() ? 2u : 3u) : 1u;
  must_hold(received.fields == response.headers.size() + own, "no header is added or lost");
}

void check_stream(Pieces& pieces) {
  StreamHead head;
  head.content_type = pieces.text();
  head.headers = headers_of(pieces);
  const bool chunked = pieces.number() % 2 == 0;
  std::string bytes =
      serialize_head(head, chunked ? StreamFraming::chunked : StreamFraming::until_close,
                     chunked ? ConnectionAfter::keep_alive : ConnectionAfter::close);
  std::string body;
  while (!pieces.empty()) {
    const std::string piece = pieces.bytes(pieces.number());
    bytes += chunked ? serialize_chunk(piece) : piece;
    body += piece;
  }
  if (chunked) bytes += last_chunk;
  const Received received = receive(bytes, /*answers_head=*/false);
  must_hold(received.body == body, "the chunks join to the body");
  const std::size_t own = (head.content_type.empty() ? 1u : 2u) + (chunked ? 1u : 0u);
  must_hold(received.fields == head.headers.size() + own, "no header is added or lost");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Pieces pieces(paddock::fuzz::as_text(data, size));
  if (pieces.number() % 2 == 0) {
    check_whole(pieces);
  } else {
    check_stream(pieces);
  }
  return 0;
}
