#include "http_fixture.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "support/catch.hpp"

namespace paddock::supervisor {

using namespace std::chrono_literals;

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = std::filesystem::temp_directory_path() / "paddock-http-XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

// ---- Client ------------------------------------------------------------------------------------

Client::Client(const std::string& socket_path)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(socket_path.begin(), socket_path.end(), address.sun_path);
  REQUIRE(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

Client::Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::fcntl(fd_.get(), F_SETFL, O_NONBLOCK) == 0);
}

void Client::send(std::string_view bytes) {
  to_send_ += bytes;
  move(/*read_bytes_max=*/0);
}

void Client::shut_down_writing() {
  shut_down_when_sent_ = true;
  move(/*read_bytes_max=*/0);
}

bool Client::send_out_of_band() {
  return ::send(fd_.get(), "!", 1, MSG_OOB | MSG_NOSIGNAL) == 1;
}

void Client::move(std::size_t read_bytes_max) {
  if (!fd_) return;
  while (!to_send_.empty()) {
    const ssize_t count = ::send(fd_.get(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0) {
      to_send_.clear();  // the server does not want it
      break;
    }
    to_send_.erase(0, static_cast<std::size_t>(count));
  }
  if (to_send_.empty() && std::exchange(shut_down_when_sent_, false))
    ::shutdown(fd_.get(), SHUT_WR);
  char buffer[65536];
  while (read_bytes_max > 0 && !is_closed) {
    const ssize_t count =
        ::recv(fd_.get(), buffer, std::min(read_bytes_max, sizeof buffer), MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) {
      is_closed = true;
    } else {
      received.append(buffer, static_cast<std::size_t>(count));
      read_bytes_max -= static_cast<std::size_t>(count);
    }
  }
}

// ---- HttpFixture -------------------------------------------------------------------------------

HttpFixture::HttpFixture(ServerConfig config) {
  handler = [](const HttpRequest& request, const Exchange& exchange) {
    exchange.respond({.body = request.method + " " + request.path + " " + request.body});
  };
  server = Server::start(loop->get(), bind_listener(socket_path).value(), std::move(config),
                         [this](HttpRequest request, Exchange exchange) {
                           requests.push_back(request);
                           handler(std::move(request), std::move(exchange));
                         })
               .value();
}

// The loop goes last, and asserts that everything was closed.
HttpFixture::~HttpFixture() {
  handler = nullptr;  // it may hold exchanges
  server.reset();
}

void HttpFixture::run_until(const std::function<bool()>& condition,
                            const std::vector<Client*>& clients) {
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) FAIL("nothing happened for five seconds");
    uv_run(loop->get(), UV_RUN_NOWAIT);
    for (Client* client : clients) client->move();
    ::usleep(100);
  }
}

void HttpFixture::run_until_responses(Client& client, std::size_t count) {
  run_until(
      [&] {
        const auto responses = parse_responses(client.received);
        return client.is_closed || (responses.size() >= count && responses[count - 1].is_complete);
      },
      {&client});
}

void HttpFixture::run_until_closed(Client& client) {
  run_until([&] { return client.is_closed; }, {&client});
}

void HttpFixture::run_for(std::chrono::milliseconds time, const std::vector<Client*>& clients) {
  const auto end = std::chrono::steady_clock::now() + time;
  run_until([&] { return std::chrono::steady_clock::now() >= end; }, clients);
}

// ---- Responses ---------------------------------------------------------------------------------

namespace {

// The value of a header line, or "".
std::string header_value(const std::string& header, const std::string& name) {
  const std::size_t start = header.find("\r\n" + name + ": ");
  if (start == std::string::npos) return "";
  const std::size_t value = start + name.size() + 4;
  return header.substr(value, header.find("\r\n", value) - value);
}

// Moves the chunks at the front of `bytes` to the response.
void take_chunks(std::string_view& bytes, ReceivedResponse& response) {
  for (;;) {
    const std::size_t line_end = bytes.find("\r\n");
    if (line_end == std::string_view::npos) return;
    const std::size_t size = std::stoul(std::string(bytes.substr(0, line_end)), nullptr, 16);
    if (bytes.size() < line_end + 2 + size + 2) return;
    response.body += bytes.substr(line_end + 2, size);
    bytes.remove_prefix(line_end + 2 + size + 2);
    if (size == 0) {
      response.is_complete = true;
      return;
    }
  }
}

}  // namespace

std::vector<ReceivedResponse> parse_responses(std::string_view bytes) {
  std::vector<ReceivedResponse> responses;
  while (!bytes.empty()) {
    const std::size_t header_end = bytes.find("\r\n\r\n");
    if (header_end == std::string_view::npos) break;
    ReceivedResponse& response = responses.emplace_back();
    response.header = bytes.substr(0, header_end + 2);
    response.status = std::stoi(response.header.substr(9, 3));
    bytes.remove_prefix(header_end + 4);
    const std::string length = header_value(response.header, "Content-Length");
    if (!length.empty()) {
      response.body = bytes.substr(0, std::stoul(length));
      bytes.remove_prefix(response.body.size());
      response.is_complete = response.body.size() == std::stoul(length);
    } else if (header_value(response.header, "Transfer-Encoding") == "chunked") {
      take_chunks(bytes, response);
    } else if (response.status == 100) {
      response.is_complete = true;
    } else {
      response.body = bytes;
      bytes = {};
    }
    if (!response.is_complete) break;
  }
  return responses;
}

std::string get(std::string_view path, std::string_view header_lines) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: paddock\r\n" + std::string(header_lines) +
         "\r\n";
}

std::string post(std::string_view path, std::string_view body) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: paddock\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

}  // namespace paddock::supervisor
