#include "fake_daemon.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace {

// Nothing here takes longer; a test that waits so long has failed.
constexpr int wait_ms_max = 20'000;

bool receive(int fd, std::string& received) {
  pollfd polled{fd, POLLIN, 0};
  if (::poll(&polled, 1, wait_ms_max) <= 0) return false;
  char buffer[65536];
  const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
  if (count <= 0) return false;
  received.append(buffer, static_cast<std::size_t>(count));
  return true;
}

std::optional<FakeRequest> receive_request(int fd, std::string& received) {
  std::size_t head_end = 0;
  while ((head_end = received.find("\r\n\r\n")) == std::string::npos)
    if (!receive(fd, received)) return std::nullopt;
  const std::string head = received.substr(0, head_end);
  std::size_t body_bytes = 0;
  const std::string length = "Content-Length: ";
  if (const std::size_t at = head.find(length); at != std::string::npos)
    body_bytes = std::strtoul(head.c_str() + at + length.size(), nullptr, 10);
  while (received.size() < head_end + 4 + body_bytes)
    if (!receive(fd, received)) return std::nullopt;

  FakeRequest request;
  const std::size_t first = head.find(' ');
  request.method = head.substr(0, first);
  request.target = head.substr(first + 1, head.find(' ', first + 1) - first - 1);
  request.body = received.substr(head_end + 4, body_bytes);
  received.erase(0, head_end + 4 + body_bytes);
  return request;
}

}  // namespace

void FakeConnection::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void FakeConnection::respond(int status, std::string_view body) const {
  write("HTTP/1.1 " + std::to_string(status) +
        " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
}

void FakeConnection::begin_chunks() const {
  write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void FakeConnection::chunk(std::string_view bytes) const {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  write(size + std::string(bytes) + "\r\n");
}

void FakeConnection::end_chunks() const {
  write("0\r\n\r\n");
}

void FakeConnection::wait_for_client_gone() const {
  std::string ignored;
  while (receive(fd_, ignored)) {
  }
}

FakeDaemon::FakeDaemon(Handler handler) : handler_(std::move(handler)) {
  char name[] = "/tmp/paddock-fake-XXXXXX";
  if (::mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
  directory_ = name;
  socket_ = directory_ + "/paddock.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_.c_str(), sizeof address.sun_path - 1);
  listener_ = paddock::kernel::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 16) != 0)
    throw std::runtime_error("bind " + socket_);
  acceptor_ = std::thread([this] { accept_all(); });
}

FakeDaemon::~FakeDaemon() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // wakes accept
  acceptor_.join();
  for (std::thread& connection : connections_) connection.join();
  ::unlink(socket_.c_str());
  ::rmdir(directory_.c_str());
}

std::vector<FakeRequest> FakeDaemon::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FakeDaemon::accept_all() {
  for (;;) {
    paddock::kernel::Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) return;
    connections_.emplace_back([this, fd = client.release()] { serve(paddock::kernel::Fd(fd)); });
  }
}

void FakeDaemon::serve(paddock::kernel::Fd client) {
  std::string received;
  while (auto request = receive_request(client.get(), received)) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(*request);
    }
    if (!handler_(*request, FakeConnection(client.get()))) return;
  }
}

FakeDaemon::Handler answering(int status, const std::string& body) {
  return [status, body](const FakeRequest&, const FakeConnection& connection) {
    connection.respond(status, body);
    return true;
  };
}
