#pragma once
// HttpRequest: one request as plain data, complete with its body.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::supervisor {

enum class HttpVersion { http_1_0, http_1_1 };

using HeaderField = std::pair<std::string, std::string>;  // name, value

// Header fields in the order they came. Names compare without regard to case.
struct Headers {
  std::vector<HeaderField> fields;

  // The first field of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  std::size_t count(std::string_view name) const;

  bool operator==(const Headers&) const = default;
};

struct HttpRequest {
  std::string method;                        // as sent: "GET"; any token, so compare exactly
  std::string target;                        // as sent: "/v1/runs?state=running"
  std::string path;                          // percent-decoded: "/v1/runs"
  std::map<std::string, std::string> query;  // percent-decoded; each name occurs once
  Headers headers;                           // without the trailer of a chunked body
  std::string body;
  HttpVersion version = HttpVersion::http_1_1;
  bool keep_alive = true;  // the client would send another request on this connection

  bool operator==(const HttpRequest&) const = default;
};

// Why a request was refused before anybody looked at its meaning.
struct HttpError {
  int status = 400;
  std::string message;

  bool operator==(const HttpError&) const = default;
};

// ASCII only, as in HTTP's own grammar.
bool equal_ignoring_case(std::string_view left, std::string_view right);

}  // namespace paddock::supervisor
