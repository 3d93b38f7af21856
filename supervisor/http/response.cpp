#include "supervisor/http/response.hpp"

#include <cassert>
#include <charconv>

namespace paddock::supervisor {
namespace {

// A line end in a value would let whoever chose the value write headers, or a whole response.
std::string without_control_characters(std::string_view text) {
  std::string clean(text);
  for (char& c : clean) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) c = ' ';
  }
  return clean;
}

void append_header(std::string& bytes, std::string_view name, std::string_view value) {
  bytes += name;
  bytes += ": ";
  bytes += without_control_characters(value);
  bytes += "\r\n";
}

std::string status_line(int status) {
  assert(status >= 200 && status <= 599);
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason_phrase(status)) + "\r\n";
}

void append_common_headers(std::string& bytes, std::string_view content_type,
                           const std::vector<HeaderField>& headers, ConnectionAfter after) {
  if (!content_type.empty()) append_header(bytes, "Content-Type", content_type);
  for (const auto& [name, value] : headers) append_header(bytes, name, value);
  append_header(bytes, "Connection", after == ConnectionAfter::close ? "close" : "keep-alive");
}

}  // namespace

std::string serialize(const Response& response, std::string_view method, ConnectionAfter after) {
  const bool may_have_body = response.status != 204 && response.status != 304;
  std::string bytes = status_line(response.status);
  append_common_headers(bytes, may_have_body ? std::string_view(response.content_type) : "",
                        response.headers, after);
  if (may_have_body) append_header(bytes, "Content-Length", std::to_string(response.body.size()));
  bytes += "\r\n";
  if (may_have_body && method != "HEAD") bytes += response.body;
  return bytes;
}

std::string serialize_head(const StreamHead& head, StreamFraming framing, ConnectionAfter after) {
  assert(head.status != 204 && head.status != 304);
  assert(framing == StreamFraming::chunked || after == ConnectionAfter::close);
  std::string bytes = status_line(head.status);
  append_common_headers(bytes, head.content_type, head.headers, after);
  if (framing == StreamFraming::chunked) append_header(bytes, "Transfer-Encoding", "chunked");
  bytes += "\r\n";
  return bytes;
}

std::string serialize_chunk(std::string_view bytes) {
  if (bytes.empty()) return {};
  char size[2 * sizeof(std::size_t)];
  const auto end = std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr;
  std::string chunk(size, end);
  chunk.reserve(chunk.size() + bytes.size() + 4);
  chunk += "\r\n";
  chunk += bytes;
  chunk += "\r\n";
  return chunk;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

}  // namespace paddock::supervisor
