#include "support/daemon_client.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

using nlohmann::json;

namespace {

[[noreturn]] void give_up(const std::string& what) {
  throw std::runtime_error(what);
}

}  // namespace

std::string HttpReply::header(std::string_view name) const {
  const std::string key = "\r\n" + std::string(name) + ": ";
  const std::size_t at = head.find(key);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

json HttpReply::json() const {
  return nlohmann::json::parse(body);
}

std::string HttpReply::error_code() const {
  const auto parsed = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  const auto pointer = "/error/code"_json_pointer;
  return parsed.is_object() && parsed.contains(pointer) ? parsed[pointer].get<std::string>() : body;
}

std::string HttpReply::error_message() const {
  const auto parsed = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  const auto pointer = "/error/message"_json_pointer;
  return parsed.is_object() && parsed.contains(pointer) ? parsed[pointer].get<std::string>() : body;
}

HttpConnection::HttpConnection(const std::string& socket_path, std::chrono::milliseconds timeout)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      deadline_(std::chrono::steady_clock::now() + timeout) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) give_up("socket path is too long");
  std::copy(socket_path.begin(), socket_path.end(), address.sun_path);
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    give_up("connect to " + socket_path + ": " + std::strerror(errno));
  ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
}

HttpConnection::HttpConnection(std::uint16_t port, std::chrono::milliseconds timeout)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      deadline_(std::chrono::steady_clock::now() + timeout) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    give_up("connect to port " + std::to_string(port) + ": " + std::strerror(errno));
  ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
}

void HttpConnection::wait_for(short events) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline_ - std::chrono::steady_clock::now());
  pollfd entry{.fd = fd_.get(), .events = events, .revents = 0};
  if (left.count() <= 0 || ::poll(&entry, 1, static_cast<int>(left.count())) == 0)
    give_up("the daemon did not answer in time; received so far: '" + received_.substr(0, 300) +
            "'");
}

void HttpConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      wait_for(POLLOUT);
    } else if (errno != EINTR) {
      return;  // the daemon has closed: what it said before can still be read
    }
  }
}

void HttpConnection::send_request(std::string_view method, std::string_view target,
                                  std::string_view body, std::string_view header_lines) {
  std::string request;
  request.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: paddock\r\n");
  request.append(header_lines);
  if (!body.empty() || method == "POST")
    request.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  request.append("\r\n").append(body);
  send(request);
}

bool HttpConnection::receive_more() {
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    if (count > 0) {
      received_.append(buffer, static_cast<std::size_t>(count));
      return true;
    }
    if (count == 0 || errno == ECONNRESET) return false;
    if (errno == EAGAIN) {
      wait_for(POLLIN);
    } else if (errno != EINTR) {
      give_up(std::string("receive: ") + std::strerror(errno));
    }
  }
}

std::string HttpConnection::take(std::size_t bytes) {
  while (received_.size() < bytes) {
    if (!receive_more()) give_up("the connection ended early after '" + received_ + "'");
  }
  std::string taken = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return taken;
}

std::string HttpConnection::take_line() {
  std::size_t end = 0;
  while ((end = received_.find("\r\n")) == std::string::npos) {
    if (!receive_more()) give_up("the connection ended early after '" + received_ + "'");
  }
  std::string line = take(end + 2);
  line.resize(end);
  return line;
}

HttpReply HttpConnection::receive_head() {
  HttpReply reply;
  for (std::string line = take_line(); !line.empty(); line = take_line())
    reply.head += line + "\r\n";
  if (!reply.head.starts_with("HTTP/1.1 ")) give_up("not HTTP: '" + reply.head + "'");
  reply.status = std::stoi(reply.head.substr(9, 3));
  return reply;
}

HttpReply HttpConnection::receive_reply() {
  HttpReply reply = receive_head();
  if (reply.header("Transfer-Encoding") == "chunked") {
    for (;;) {
      const std::size_t size = std::stoul(take_line(), nullptr, 16);
      reply.body += take(size);
      take(2);
      if (size == 0) return reply;
    }
  }
  if (const std::string length = reply.header("Content-Length"); !length.empty())
    reply.body = take(std::stoul(length));
  return reply;
}

json HttpConnection::receive_event() {
  std::size_t end = 0;
  while ((end = stream_.find('\n')) == std::string::npos) {
    if (stream_ended_) return nullptr;
    const std::size_t size = std::stoul(take_line(), nullptr, 16);
    stream_ += take(size);
    take(2);
    stream_ended_ = size == 0;
  }
  const json event = json::parse(stream_.substr(0, end));
  stream_.erase(0, end + 1);
  return event;
}

std::string HttpConnection::receive_to_end() {
  while (receive_more()) {
  }
  return std::exchange(received_, {});
}

bool HttpConnection::is_closed_within(std::chrono::milliseconds time) {
  deadline_ = std::chrono::steady_clock::now() + time;
  try {
    receive_to_end();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

void HttpConnection::shut_down_writing() {
  ::shutdown(fd_.get(), SHUT_WR);
}

HttpReply http(const std::string& socket_path, std::string_view method, std::string_view target,
               const json& body) {
  HttpConnection connection(socket_path);
  connection.send_request(method, target, body.is_null() ? "" : body.dump());
  return connection.receive_reply();
}
