#include "supervisor/http/loopback.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>

#include <fmt/format.h>

#include "supervisor/http/request.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Fd;
using kernel::Result;

constexpr const char* hosts[] = {"127.0.0.1", "localhost", "[::1]"};

Result<Fd> bound_socket(const LoopbackAddress& address) {
  Fd fd(::socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return kernel::fail_errno("make a TCP socket");
  const int on = 1;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
    return kernel::fail_errno("prepare a TCP socket");
  int bound = -1;
  if (address.v6) {
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(address.port);
    name.sin6_addr = in6addr_loopback;
    bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
  } else {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
  }
  // Listening at once: a port that another process of this user listens on already is refused here.
  if (bound != 0 || ::listen(fd.get(), SOMAXCONN) != 0)
    return kernel::fail_errno("listen on " + to_string(address));
  return fd;
}

}  // namespace

Result<LoopbackAddress> parse_loopback_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon);
  LoopbackAddress address;
  bool known = false;
  for (const char* name : hosts) known = known || host == name;
  if (colon == std::string::npos || !known)
    return fail(ErrorCode::invalid_request,
                fmt::format("'{}' is not 127.0.0.1:PORT or [::1]:PORT: only this host's own "
                            "programs are listened to",
                            text));
  address.v6 = host == "[::1]";
  const char* const begin = text.data() + colon + 1;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(begin, end, address.port);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    return fail(ErrorCode::invalid_request, fmt::format("'{}' has no port from 0 to 65535", text));
  return address;
}

std::string to_string(const LoopbackAddress& address) {
  return fmt::format("{}:{}", address.v6 ? "[::1]" : "127.0.0.1", address.port);
}

Result<Listener> bind_loopback(const LoopbackAddress& address) {
  Fd fd = TRY(bound_socket(address));
  return Listener{std::move(fd), SocketFile{}, SocketKind::tcp};
}

LoopbackAddress address_of(const Listener& listener) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getsockname(listener.fd.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) return {};
  if (name.ss_family == AF_INET6)
    return {.v6 = true, .port = ntohs(reinterpret_cast<const sockaddr_in6*>(&name)->sin6_port)};
  return {.v6 = false, .port = ntohs(reinterpret_cast<const sockaddr_in*>(&name)->sin_port)};
}

bool is_host_of(std::string_view host, std::uint16_t port) {
  constexpr std::uint16_t default_port = 80;
  for (const char* name : hosts) {
    if (equal_ignoring_case(host, fmt::format("{}:{}", name, port))) return true;
    if (port == default_port && equal_ignoring_case(host, name)) return true;
  }
  return false;
}

}  // namespace paddock::supervisor
