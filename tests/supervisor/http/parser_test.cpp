#include "supervisor/http/parser.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;
using State = RequestParser::State;

namespace {

const std::string get_request = "GET /v1/runs?state=alive HTTP/1.1\r\nHost: paddock\r\n\r\n";
const std::string post_request =
    "POST /v1/runs HTTP/1.1\r\nHost: paddock\r\ncontent-length: 5\r\n\r\nhello";
const std::string chunked_request =
    "POST /v1/runs HTTP/1.1\r\nHost: paddock\r\nTransfer-Encoding: Chunked\r\n\r\n"
    "5;name=value\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: ignored\r\n\r\n";

const std::string empty_chunked_request =
    "POST /v1/runs HTTP/1.1\r\nHost: paddock\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";

// The status that `bytes` are refused with; 0 if they are not.
int status_of(const std::string& bytes, ParserLimits limits = {}) {
  RequestParser parser(limits);
  parser.feed(bytes);
  return parser.state() == State::failed ? parser.error().status : 0;
}

// The status of a request with these header lines.
int status_with(const std::string& header_lines, const std::string& body = "") {
  return status_of("POST / HTTP/1.1\r\nHost: paddock\r\n" + header_lines + "\r\n" + body);
}

HttpRequest parse_whole(const std::string& bytes) {
  RequestParser parser({});
  CHECK(parser.feed(bytes) == bytes.size());
  INFO(parser.error().message);
  REQUIRE(parser.state() == State::complete);
  return parser.take();
}

}  // namespace

TEST_CASE("a request becomes plain data") {
  const HttpRequest request = parse_whole(get_request);
  CHECK(request == HttpRequest{.method = "GET",
                               .target = "/v1/runs?state=alive",
                               .path = "/v1/runs",
                               .query = {{"state", "alive"}},
                               .headers = {{{"Host", "paddock"}}},
                               .body = "",
                               .version = HttpVersion::http_1_1,
                               .keep_alive = true});
}

TEST_CASE("header names compare without regard to case, and values are trimmed") {
  const HttpRequest request = parse_whole("GET / HTTP/1.1\r\nhOsT:  a b \t\r\nX-Empty:\r\n\r\n");
  CHECK(request.headers.find("Host") == "a b");
  CHECK(request.headers.find("x-empty") == "");
  CHECK(request.headers.find("X-Missing") == std::nullopt);
}

TEST_CASE("a request is the same however its bytes are split") {
  for (const std::string& bytes :
       {get_request, post_request, chunked_request, empty_chunked_request}) {
    const HttpRequest whole = parse_whole(bytes);

    RequestParser one_by_one({});
    for (const char byte : bytes) {
      REQUIRE(one_by_one.state() != State::complete);
      CHECK(one_by_one.feed({&byte, 1}) == 1);
    }
    REQUIRE(one_by_one.state() == State::complete);
    CHECK(one_by_one.take() == whole);

    for (std::size_t split = 1; split < bytes.size(); ++split) {
      RequestParser parser({});
      CHECK(parser.feed(bytes.substr(0, split)) == split);
      CHECK(parser.feed(bytes.substr(split)) == bytes.size() - split);
      REQUIRE(parser.state() == State::complete);
      CHECK(parser.take() == whole);
    }
  }
}

TEST_CASE("a parser takes one request and leaves the bytes of the next, wherever they are split") {
  const std::string bytes = chunked_request + post_request + empty_chunked_request + get_request;
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    RequestParser parser({});
    std::vector<std::string> bodies;
    for (std::string input : {bytes.substr(0, split), bytes.substr(split)}) {
      while (!input.empty()) {
        input.erase(0, parser.feed(input));
        if (parser.state() == State::complete) bodies.push_back(parser.take().body);
      }
    }
    CHECK(bodies == std::vector<std::string>{"hello world", "hello", "", ""});
    CHECK(parser.state() == State::empty);
  }
}

TEST_CASE("a complete parser takes nothing more until its request is taken") {
  RequestParser parser({});
  parser.feed(get_request);
  CHECK(parser.feed("GET ") == 0);
  parser.take();
  CHECK(parser.feed("GET ") == 4);
  CHECK(parser.state() == State::header);
}

TEST_CASE("the trailer of a chunked body does not become a header") {
  CHECK(parse_whole(chunked_request).headers.find("X-Trailer") == std::nullopt);
}

TEST_CASE("whether a connection stays depends on the version and on what the client says") {
  CHECK(parse_whole("GET / HTTP/1.1\r\nHost: a\r\n\r\n").keep_alive);
  CHECK_FALSE(parse_whole("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n").keep_alive);
  CHECK_FALSE(parse_whole("GET / HTTP/1.0\r\n\r\n").keep_alive);
  CHECK(parse_whole("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
  CHECK(parse_whole("GET / HTTP/1.0\r\n\r\n").version == HttpVersion::http_1_0);
}

TEST_CASE("an upgrade is ignored") {
  const HttpRequest request =
      parse_whole("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n");
  CHECK(request.keep_alive);
}

TEST_CASE("an empty line before a request is skipped, and not many") {
  CHECK(parse_whole("\r\n" + get_request).path == "/v1/runs");
  CHECK(status_of("\r\n\r\n\r\n") == 400);
}

TEST_CASE("a client that asks before it sends its body is heard once") {
  const std::string header =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
  RequestParser parser({});
  parser.feed(header);
  CHECK(parser.state() == State::body);
  CHECK(parser.take_expectation());
  CHECK_FALSE(parser.take_expectation());

  RequestParser impatient({});
  impatient.feed(header + "h");
  CHECK_FALSE(impatient.take_expectation());

  CHECK(status_with("Expect: 200-ok\r\n") == 417);
}

TEST_CASE("a malformed request line is refused") {
  for (const char* line :
       {"GET", "GET /", "GET / ", "GET / HTTP", "GET / http/1.1", "GET / HTTP/1.1 ",
        "GET / XTTP/1.1", "GET  / HTTP/1.1", " GET / HTTP/1.1", "G\xc3\x84T / HTTP/1.1",
        "G(T / HTTP/1.1", "GET /\t HTTP/1.1", "GET /a b HTTP/1.1", "GET a HTTP/1.1",
        "GET * HTTP/1.1", "GET http://a/ HTTP/1.1", "CONNECT a:80 HTTP/1.1", "GET /%zz HTTP/1.1",
        "/ HTTP/1.1"}) {
    INFO(line);
    CHECK(status_of(std::string(line) + "\r\nHost: a\r\n\r\n") == 400);
  }
}

TEST_CASE("an unknown version is told apart from a malformed one") {
  CHECK(status_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == 505);
  CHECK(status_of("GET / HTTP/1.2\r\nHost: a\r\n\r\n") == 505);
  CHECK(status_of("GET / HTTP/0.9\r\nHost: a\r\n\r\n") == 505);
  CHECK(status_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == 505);
}

TEST_CASE("a malformed header is refused") {
  using namespace std::string_literals;
  for (const std::string& line : {"no colon"s, ": no name"s, "Name : space"s, "N\xc3\xa4me: x"s,
                                  "Na me: x"s, "X: a\0b"s, "X: a\x01"s, "X: a\x7f"s, "X: a\rb"s,
                                  "X: a\nY: b"s, "X: a\r\n folded"s, "X: a\r\n\tfolded"s}) {
    INFO(line);
    CHECK(status_with(line + "\r\n") == 400);
  }
  CHECK(status_with("X: caf\xc3\xa9\r\n") == 0);
}

TEST_CASE("wrong bytes are refused when they come, and not at the end of the header") {
  CHECK(status_of("\x16\x03\x01") == 400);  // the start of a TLS handshake
  CHECK(status_of(std::string("GET /\0", 6)) == 400);
  CHECK(status_of("GET / HTTP/1.1\n") == 400);
}

TEST_CASE("a request needs one Host") {
  CHECK(status_of("GET / HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_with("Host: other\r\n") == 400);
  CHECK(status_of("GET / HTTP/1.0\r\n\r\n") == 0);
}

TEST_CASE("a body whose end could be understood in two ways is refused") {
  CHECK(status_with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n") == 400);
  CHECK(status_with("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n") == 400);
  CHECK(status_with("Content-Length: 1\r\nContent-Length: 1\r\n") == 400);
  CHECK(status_with("Content-Length: 1\r\nContent-Length: 2\r\n") == 400);
  CHECK(status_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") == 400);
  CHECK(status_with("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n") == 400);
  for (const char* length :
       {"", "+1", "-1", "1 1", "1,1", "0x1", "1a", "99999999999999999999999"}) {
    INFO(length);
    CHECK(status_with(std::string("Content-Length: ") + length + "\r\n") == 400);
  }
  CHECK(status_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") == 400);
}

TEST_CASE("a transfer coding other than chunked is not implemented") {
  CHECK(status_with("Transfer-Encoding: gzip\r\n") == 501);
  CHECK(status_with("Transfer-Encoding: gzip, chunked\r\n") == 501);
  CHECK(status_with("Transfer-Encoding: chunked, gzip\r\n") == 501);
  CHECK(status_with("Transfer-Encoding: xchunked\r\n") == 501);
  CHECK(status_with("Transfer-Encoding: identity\r\n") == 501);
}

TEST_CASE("a malformed chunk is refused") {
  for (const char* body :
       {"x\r\n", "\r\n", "-1\r\n", "5\r\nhelloX\r\n0", "5\r\nhello\n0\r\n", " 5\r\n", "5 \r\nhello",
        "fffffffffffffffff\r\n", "0\r\nbad trailer\r\n\r\n"}) {
    INFO(body);
    CHECK(status_with("Transfer-Encoding: chunked\r\n", body) == 400);
  }
}

TEST_CASE("a header over the limit is refused at the limit") {
  const ParserLimits limits{.header_bytes_max = get_request.size(), .body_bytes_max = 10};
  CHECK(status_of(get_request, limits) == 0);
  CHECK(status_of("GET /" + std::string(limits.header_bytes_max, 'x'), limits) == 431);
  RequestParser parser(limits);
  const std::string endless(100'000, 'x');
  CHECK(parser.feed(endless) == limits.header_bytes_max + 1);
  CHECK(parser.state() == State::failed);
}

TEST_CASE("a header of many small fields is bounded by its bytes") {
  std::string lines;
  for (int i = 0; i < 4000; ++i) lines += "a:\r\n";
  CHECK(status_with(lines) == 0);
  CHECK(status_with(lines + lines) == 431);
}

TEST_CASE("a body over the limit is refused before it is read") {
  const ParserLimits limits{.body_bytes_max = 5};
  CHECK(status_of(post_request, limits) == 0);
  CHECK(status_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n", limits) == 413);
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(status_of(chunked + "5\r\nhello\r\n0\r\n\r\n", limits) == 0);
  CHECK(status_of(chunked + "6\r\n", limits) == 413);
  CHECK(status_of(chunked + "3\r\nabc\r\n3\r\n", limits) == 413);
}

TEST_CASE("a chunk header and a trailer are bounded too") {
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(status_of(chunked + "5;" + std::string(20'000, 'x')) == 431);
  CHECK(status_of(chunked + "0\r\nX: " + std::string(20'000, 'x')) == 431);
  RequestParser parser({});
  parser.feed(chunked + "5;");
  for (int i = 0; i < 20'000 && parser.state() == State::body; ++i) parser.feed("x");
  CHECK(parser.state() == State::failed);
}

TEST_CASE("a large body in many pieces arrives whole") {
  std::string body;
  for (int i = 0; i < 200'000; ++i) body += static_cast<char>('a' + i % 26);
  std::string bytes = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t at = 0; at < body.size(); at += 1000) {
    bytes += "3e8\r\n" + body.substr(at, 1000) + "\r\n";
  }
  bytes += "0\r\n\r\n";
  RequestParser parser({});
  for (std::size_t at = 0; at < bytes.size(); at += 777) parser.feed(bytes.substr(at, 777));
  REQUIRE(parser.state() == State::complete);
  CHECK(parser.take().body == body);
}
