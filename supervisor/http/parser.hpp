#pragma once
// RequestParser turns the bytes of one connection into requests, however they are split.
//
// Boost.Beast's parser does the grammar; parser.cpp is the only file that includes it. What Beast
// lets pass and we do not, because two readers could understand it differently: folded header
// lines, bare CR or LF, control characters, more than one Content-Length or Transfer-Encoding or
// Host, both lengths at once, and any transfer coding but "chunked".

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/http/request.hpp"

namespace paddock::supervisor {

struct ParserLimits {
  // Request line and header fields together; it also bounds their number. The same limit holds for
  // what must be kept of a chunk header or a trailer while its end has not come.
  std::size_t header_bytes_max = std::size_t{16} * 1024;
  std::size_t body_bytes_max = std::size_t{32} * 1024 * 1024;
  // Judges a request by its header alone, so that nothing more of one is read that is refused.
  // Empty: none is.
  std::function<std::optional<HttpError>(const HttpRequest& head)> check_head{};
};

class RequestParser {
 public:
  enum class State {
    empty,     // nothing of the next request has come
    header,    // in the request line or the header fields
    body,      // the header is complete, the body is not
    complete,  // take() has a request
    failed,    // error() says why; the connection is of no further use
  };

  explicit RequestParser(ParserLimits limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Returns how many of the bytes belong to the current request (or were looked at before it
  // failed). It is all of them, unless the request became complete: the rest is the next one's.
  // Takes nothing when complete or failed.
  std::size_t feed(std::string_view bytes);

  State state() const { return state_; }

  // True once for a client that waits for "100 Continue" before it sends its body.
  bool take_expectation();

  // The complete request; the parser is empty again.
  HttpRequest take();

  // 400 malformed, 413 body too large, 417 unknown expectation, 431 header too large, 501 transfer
  // coding, 505 version.
  const HttpError& error() const { return error_; }

 private:
  struct Message;  // Beast's parser

  void fail(int status, std::string message);
  std::size_t feed_header(std::string_view bytes);
  void accept_header_byte(char byte);
  void finish_header();
  bool check_request_line();
  bool parse_header();
  bool check_framing();
  bool check_expectation();
  std::size_t feed_body(std::string_view bytes);
  void finish_request();

  ParserLimits limits_;
  State state_ = State::empty;
  std::size_t leading_bytes_ = 0;  // line ends skipped before the request line
  bool request_line_is_complete_ = false;
  std::string header_;   // as received, until it is complete
  std::string pending_;  // the start of a chunk header or trailer whose end has not come yet
  bool expects_continue_ = false;
  std::unique_ptr<Message> message_;
  HttpRequest request_;
  HttpError error_;
};

}  // namespace paddock::supervisor
