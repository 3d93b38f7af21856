#pragma once
// Responses as plain data, and as bytes.
//
// Every member has an initialiser, so that `{.status = 404}` is a whole response without a warning.

#include <string>
#include <string_view>
#include <vector>

#include "supervisor/http/request.hpp"

namespace paddock::supervisor {

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";  // empty: no Content-Type header
  std::string body{};
  // Further ones ("Retry-After"), not those that frame the body.
  std::vector<HeaderField> headers{};

  bool operator==(const Response&) const = default;
};

// The start of a response whose body is not known yet.
struct StreamHead {
  int status = 200;
  std::string content_type = "application/octet-stream";
  std::vector<HeaderField> headers{};

  bool operator==(const StreamHead&) const = default;
};

// How the client sees the end of a streamed body. HTTP/1.0 knows no chunks.
enum class StreamFraming { chunked, until_close };

enum class ConnectionAfter { keep_alive, close };

// The whole response with Content-Length. `method` is the request's: the answer to HEAD has the
// headers of GET and no body.
std::string serialize(const Response& response, std::string_view method, ConnectionAfter after);

std::string serialize_head(const StreamHead& head, StreamFraming framing, ConnectionAfter after);

// One chunk. Empty for empty bytes: an empty chunk would end the body.
std::string serialize_chunk(std::string_view bytes);

inline constexpr std::string_view last_chunk = "0\r\n\r\n";
inline constexpr std::string_view continue_response = "HTTP/1.1 100 Continue\r\n\r\n";

// "Not Found" for 404; "Unknown" for a status this daemon does not use.
std::string_view reason_phrase(int status);

}  // namespace paddock::supervisor
