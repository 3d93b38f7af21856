#include "supervisor/cli/client.hpp"
#include "supervisor/http/peer_namespace.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace paddock::supervisor::cli {
namespace {

namespace http = boost::beast::http;
using kernel::ErrorCode;
using kernel::fail;
using kernel::fail_errno;
using kernel::Fd;
using kernel::Result;
using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;

constexpr std::size_t read_bytes_max = 64u << 10;
constexpr std::uint32_t header_bytes_max = 64 * 1024;

// Waits for `events`; fails with io when the deadline passes.
Result<void> wait_for(const Fd& fd, short events, const Deadline& deadline) {
  for (;;) {
    int wait_ms = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
      if (left.count() <= 0) return fail(ErrorCode::io, "the daemon does not answer");
      wait_ms = static_cast<int>(left.count());
    }
    pollfd polled{fd.get(), events, 0};
    const int ready = ::poll(&polled, 1, wait_ms);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail_errno("poll");
  }
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(ErrorCode::invalid_request, "socket path '" + path + "' is " +
                                                std::to_string(path.size()) + " bytes, at most " +
                                                std::to_string(sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

}  // namespace

struct Client::Answer {
  Answer() {
    parser.eager(true);
    parser.header_limit(header_bytes_max);
    // The daemon is trusted, and a run's output can be of any size that its profile keeps.
    parser.body_limit(boost::none);
  }

  http::response_parser<http::string_body> parser;
  std::string unparsed;  // received, and too little for the parser to go on
};

Client::Client(Fd socket) : socket_(std::move(socket)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::connect(const std::string& path) {
  const sockaddr_un address = TRY(address_of(path));
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail_errno("socket");
  const Clock::time_point deadline = Clock::now() + connect_time_max;
  // A full backlog is EAGAIN on a Unix socket, and poll does not tell when there is room.
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
         0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN && Clock::now() < deadline) {
      ::poll(nullptr, 0, 20);
      continue;
    }
    const bool nobody = errno == ENOENT || errno == ECONNREFUSED;
    return fail(nobody ? ErrorCode::not_found : ErrorCode::io,
                "connect to '" + path + "': " + kernel::errno_text(errno));
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return fail_errno("look who answers at '" + path + "'");
  if (!shares_user_namespace(peer.pid, peer.uid))
    return fail(ErrorCode::io, "who answers at '" + path +
                                   "' is no daemon but a process inside a " +
                                   "run, or it has ended: not talking to it");
  return Client(std::move(socket));
}

uid_t Client::daemon_uid() const {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return static_cast<uid_t>(-1);
  return peer.uid;
}

Result<void> Client::send(std::string_view method, std::string_view target, std::string_view body) {
  std::string message;
  message.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: paddock\r\n");
  if (!body.empty() || method == "POST")
    message +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  message.append("\r\n").append(body);

  answer_ = std::make_unique<Answer>();
  const Deadline deadline = Clock::now() + answer_time_max;
  std::string_view rest = message;
  while (!rest.empty()) {
    const ssize_t count = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      TRY_VOID(wait_for(socket_, POLLOUT, deadline));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      break;  // it may have refused the request before reading all of it: the answer tells
    } else if (errno != EINTR) {
      return fail_errno("send to the daemon");
    }
  }
  return {};
}

Result<Client::Progress> Client::read_some(std::string& body) {
  auto& parser = answer_->parser;
  char buffer[read_bytes_max];
  const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, 0);
  if (count < 0 && errno != EAGAIN && errno != EINTR) return fail_errno("read from the daemon");
  boost::system::error_code error;
  if (count == 0) {
    if (parser.got_some()) parser.put_eof(error);
    if (error || !parser.is_done())
      return fail(ErrorCode::io, "the daemon closed the connection before its answer was complete");
  }
  std::string& unparsed = answer_->unparsed;
  if (count > 0) unparsed.append(buffer, static_cast<std::size_t>(count));
  while (!unparsed.empty() && !parser.is_done()) {
    const std::size_t used =
        parser.put(boost::asio::const_buffer(unparsed.data(), unparsed.size()), error);
    unparsed.erase(0, used);
    if (error == http::error::need_more || (!error && used == 0)) break;
    if (error) return fail(ErrorCode::io, "the daemon's answer is not HTTP: " + error.message());
  }
  body += parser.get().body();
  parser.get().body().clear();
  return Progress{.status = parser.is_header_done() ? parser.get().result_int() : 0,
                  .complete = parser.is_done()};
}

Result<HttpResponse> Client::request(std::string_view method, std::string_view target,
                                     std::string_view body,
                                     std::optional<std::chrono::milliseconds> time_max) {
  TRY_VOID(send(method, target, body));
  Deadline deadline;
  if (time_max) deadline = Clock::now() + *time_max;
  HttpResponse response;
  for (;;) {
    TRY_VOID(wait_for(socket_, POLLIN, deadline));
    const Progress progress = TRY(read_some(response.body));
    response.status = progress.status;
    if (progress.complete) return response;
  }
}

}  // namespace paddock::supervisor::cli
