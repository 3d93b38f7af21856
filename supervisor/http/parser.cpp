#include "supervisor/http/parser.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cassert>
#include <utility>

#include "supervisor/http/response.hpp"
#include "supervisor/http/target.hpp"

namespace paddock::supervisor {
namespace {

namespace beast_http = boost::beast::http;
using boost::beast::error_code;

// RFC 9112, 2.2: a server should ignore an empty line before the request line, which some clients
// send after a body. Two, and then it is garbage.
constexpr std::size_t leading_bytes_max = 4;

boost::asio::const_buffer as_buffer(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

std::string to_string(boost::beast::string_view text) {
  return std::string(text.data(), text.size());
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "HTTP/2.0": the right form, whatever the numbers.
bool is_http_version(std::string_view text) {
  return text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) && text[6] == '.' &&
         is_digit(text[7]);
}

HttpError to_http_error(const error_code& error, const ParserLimits& limits) {
  if (error == beast_http::error::body_limit || error == beast_http::error::buffer_overflow) {
    return {413, "the body is larger than " + std::to_string(limits.body_bytes_max) + " bytes"};
  }
  if (error == beast_http::error::header_limit)
    return {431, "the header is larger than " + std::to_string(limits.header_bytes_max) + " bytes"};
  return {400, "malformed request: " + error.message()};
}

}  // namespace

struct RequestParser::Message {
  beast_http::request_parser<beast_http::string_body> parser;
};

RequestParser::RequestParser(ParserLimits limits) : limits_(limits) {}
RequestParser::~RequestParser() = default;

std::size_t RequestParser::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ != State::complete && state_ != State::failed) {
    const std::string_view rest = bytes.substr(used);
    used += state_ == State::body ? feed_body(rest) : feed_header(rest);
  }
  return used;
}

bool RequestParser::take_expectation() {
  return std::exchange(expects_continue_, false);
}

HttpRequest RequestParser::take() {
  assert(state_ == State::complete);
  state_ = State::empty;
  leading_bytes_ = 0;
  request_line_is_complete_ = false;
  return std::exchange(request_, HttpRequest{});
}

void RequestParser::fail(int status, std::string message) {
  state_ = State::failed;
  error_ = {status, std::move(message)};
  // The connection may live on for its last response; what it received is not needed for that.
  message_.reset();
  header_ = {};
  pending_ = {};
}

// ---- The header --------------------------------------------------------------------------------

std::size_t RequestParser::feed_header(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && (state_ == State::empty || state_ == State::header)) {
    accept_header_byte(bytes[used++]);
    if (state_ == State::header && header_.ends_with("\r\n\r\n")) finish_header();
  }
  return used;
}

// Refuses wrong bytes as soon as they come: a client that speaks something else gets its answer at
// once, and not when the request times out.
void RequestParser::accept_header_byte(char byte) {
  if (header_.empty() && (byte == '\r' || byte == '\n')) {
    if (++leading_bytes_ > leading_bytes_max) fail(400, "the request line is missing");
    return;
  }
  if (header_.size() == limits_.header_bytes_max) {
    return fail(431,
                "the header is larger than " + std::to_string(limits_.header_bytes_max) + " bytes");
  }
  const char previous = header_.empty() ? '\0' : header_.back();
  const auto code = static_cast<unsigned char>(byte);
  if (previous == '\r' && byte != '\n') return fail(400, "a CR without LF in the header");
  if (byte == '\n' && previous != '\r') return fail(400, "an LF without CR in the header");
  if ((code < 0x20 && byte != '\r' && byte != '\n' && byte != '\t') || code == 0x7f)
    return fail(400, "a control character in the header");
  if (!request_line_is_complete_ && (byte == '\t' || code >= 0x80))
    return fail(400, "the request line must be printable ASCII");
  if (previous == '\n' && (byte == ' ' || byte == '\t'))
    return fail(400, "a header field is folded over two lines");
  header_ += byte;
  request_line_is_complete_ = request_line_is_complete_ || byte == '\n';
  state_ = State::header;
}

void RequestParser::finish_header() {
  if (!check_request_line() || !parse_header() || !check_framing() || !check_expectation()) return;
  if (limits_.check_head) {
    if (const auto refusal = limits_.check_head(request_)) {
      expects_continue_ = false;
      return fail(refusal->status, refusal->message);
    }
  }
  header_.clear();
  if (message_->parser.is_done()) {
    finish_request();
  } else {
    message_->parser.eager(true);
    state_ = State::body;
  }
}

// Beast says "bad version" for a version it does not know and for any other third word alike.
bool RequestParser::check_request_line() {
  const std::string_view line = std::string_view(header_).substr(0, header_.find('\r'));
  const std::size_t space = line.rfind(' ');
  const std::string_view version = space == std::string_view::npos ? "" : line.substr(space + 1);
  if (!is_http_version(version)) {
    fail(400, "the request line must read: METHOD TARGET HTTP/1.1");
  } else if (version != "HTTP/1.0" && version != "HTTP/1.1") {
    fail(505, std::string(version) + " is not supported, only HTTP/1.0 and HTTP/1.1");
  }
  return state_ != State::failed;
}

bool RequestParser::parse_header() {
  message_ = std::make_unique<Message>();
  auto& parser = message_->parser;
  // Our own limit was checked already. Beast's default of 8 KiB must not come first.
  parser.header_limit(static_cast<std::uint32_t>(header_.size() + 1));
  parser.body_limit(limits_.body_bytes_max);
  error_code error;
  parser.put(as_buffer(header_), error);
  if (!error && !parser.is_header_done()) error = beast_http::error::partial_message;
  if (error) {
    const HttpError refusal = to_http_error(error, limits_);
    fail(refusal.status, refusal.message);
    return false;
  }
  const auto& message = parser.get();
  const auto target = parse_target({message.target().data(), message.target().size()});
  if (!target) {
    fail(target.error().status, target.error().message);
    return false;
  }
  request_.method = to_string(message.method_string());
  request_.target = to_string(message.target());
  request_.path = target->path;
  request_.query = target->query;
  request_.version = message.version() == 10 ? HttpVersion::http_1_0 : HttpVersion::http_1_1;
  request_.keep_alive = message.keep_alive();
  for (const auto& field : message)
    request_.headers.fields.emplace_back(to_string(field.name_string()), to_string(field.value()));
  return true;
}

// Where this request ends must be beyond doubt: the next one begins there.
bool RequestParser::check_framing() {
  const Headers& headers = request_.headers;
  const auto coding = headers.find("Transfer-Encoding");
  const auto length = headers.find("Content-Length");
  const std::size_t hosts = headers.count("Host");
  if (hosts > 1 || (hosts == 0 && request_.version == HttpVersion::http_1_1)) {
    fail(400, "an HTTP/1.1 request needs one Host header");
  } else if (coding && length) {
    fail(400, "both Content-Length and Transfer-Encoding are given");
  } else if (headers.count("Content-Length") > 1 || headers.count("Transfer-Encoding") > 1) {
    fail(400, "Content-Length or Transfer-Encoding is given more than once");
  } else if (length && !std::all_of(length->begin(), length->end(), is_digit)) {
    fail(400, "Content-Length is not a number");
  } else if (coding && !equal_ignoring_case(*coding, "chunked")) {
    fail(501, "the only transfer coding supported is chunked");
  } else if (coding && request_.version == HttpVersion::http_1_0) {
    fail(400, "HTTP/1.0 has no Transfer-Encoding");
  }
  return state_ != State::failed;
}

bool RequestParser::check_expectation() {
  const auto expectation = request_.headers.find("Expect");
  if (!expectation || request_.version == HttpVersion::http_1_0) return true;
  if (!equal_ignoring_case(*expectation, "100-continue")) {
    fail(417, "the only expectation supported is 100-continue");
    return false;
  }
  expects_continue_ = !message_->parser.is_done();
  return true;
}

// ---- The body ----------------------------------------------------------------------------------

// Beast takes a chunk header or a trailer only as a whole, so the start of one is kept and given
// again together with what follows.
std::size_t RequestParser::feed_body(std::string_view bytes) {
  expects_continue_ = false;  // the client did not wait
  const std::size_t pending_size = pending_.size();
  std::string_view input = bytes;
  if (pending_size > 0) input = pending_.append(bytes);

  auto& parser = message_->parser;
  error_code error;
  std::size_t used = 0;
  // Given an empty chunked body in pieces, Beast 1.74 trips over its own assertion that the last
  // chunk has come with its trailer ("0\r\n\r\n"). It gets those five bytes together.
  const bool may_be_empty = parser.chunked() && input.front() == '0';
  if (!may_be_empty || input.size() >= last_chunk.size())
    used = parser.put(as_buffer(input), error);

  if (error && error != beast_http::error::need_more) {
    const HttpError refusal = to_http_error(error, limits_);
    fail(refusal.status, refusal.message);
    return bytes.size();
  }
  if (parser.is_done()) {
    assert(used >= pending_size);
    pending_.clear();
    finish_request();
    return used - pending_size;
  }
  if (pending_size > 0) {
    pending_.erase(0, used);
  } else {
    pending_ = bytes.substr(used);
  }
  if (pending_.size() > limits_.header_bytes_max) {
    fail(431, "a chunk header or the trailer is larger than " +
                  std::to_string(limits_.header_bytes_max) + " bytes");
  }
  return bytes.size();
}

void RequestParser::finish_request() {
  request_.body = std::move(message_->parser.get().body());
  message_.reset();
  state_ = State::complete;
}

}  // namespace paddock::supervisor
