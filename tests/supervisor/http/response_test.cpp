#include "supervisor/http/response.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;

TEST_CASE("a response has its length and says whether the connection stays") {
  const Response response{.status = 429,
                          .content_type = "application/json",
                          .body = "{}",
                          .headers = {{"Retry-After", "3"}}};
  CHECK(serialize(response, "GET", ConnectionAfter::keep_alive) ==
        "HTTP/1.1 429 Too Many Requests\r\n"
        "Content-Type: application/json\r\n"
        "Retry-After: 3\r\n"
        "Connection: keep-alive\r\n"
        "Content-Length: 2\r\n"
        "\r\n"
        "{}");
}

TEST_CASE("the response to HEAD has the length of the body and not the body") {
  const std::string bytes = serialize({.body = "12345"}, "HEAD", ConnectionAfter::close);
  CHECK(bytes.find("Content-Length: 5\r\n") != std::string::npos);
  CHECK(bytes.ends_with("\r\n\r\n"));
}

TEST_CASE("a response without content has neither body nor length") {
  CHECK(serialize({.status = 204, .body = "ignored"}, "GET", ConnectionAfter::close) ==
        "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

TEST_CASE("a header value cannot begin another header") {
  const Response response{.headers = {{"X-Name", "a\r\nSet-Cookie: b\x7f"}}};
  CHECK(serialize(response, "GET", ConnectionAfter::close).find("X-Name: a  Set-Cookie: b \r\n") !=
        std::string::npos);
}

TEST_CASE("a stream is chunked, or lasts until the close") {
  CHECK(serialize_head({.content_type = "application/x-ndjson"}, StreamFraming::chunked,
                       ConnectionAfter::keep_alive) ==
        "HTTP/1.1 200 OK\r\n"
        "Content-Type: application/x-ndjson\r\n"
        "Connection: keep-alive\r\n"
        "Transfer-Encoding: chunked\r\n"
        "\r\n");
  CHECK(serialize_head({}, StreamFraming::until_close, ConnectionAfter::close) ==
        "HTTP/1.1 200 OK\r\n"
        "Content-Type: application/octet-stream\r\n"
        "Connection: close\r\n"
        "\r\n");
}

TEST_CASE("a chunk has its size in hexadecimal, and an empty one is never sent") {
  CHECK(serialize_chunk("hello") == "5\r\nhello\r\n");
  CHECK(serialize_chunk(std::string(255, 'x')).starts_with("ff\r\n"));
  CHECK(serialize_chunk("").empty());
}
