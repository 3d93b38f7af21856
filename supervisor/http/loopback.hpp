#pragma once
// Listening on TCP: on the loopback interface, and on nothing that another host could reach.

#include <cstdint>
#include <string>

#include "supervisor/http/listener.hpp"

namespace paddock::supervisor {

struct LoopbackAddress {
  bool v6 = false;  // [::1], else 127.0.0.1
  std::uint16_t port = 0;

  bool operator==(const LoopbackAddress&) const = default;
};

// "127.0.0.1:8231", "[::1]:8231", or "localhost:8231", which is the first. Port 0 takes any that is
// free. Fails with invalid_request.
kernel::Result<LoopbackAddress> parse_loopback_address(const std::string& text);
std::string to_string(const LoopbackAddress& address);

// Fails with io and names the address.
kernel::Result<Listener> bind_loopback(const LoopbackAddress& address);
// What a listener of bind_loopback() has got: its port is never 0.
LoopbackAddress address_of(const Listener& listener);

// True if a Host header names this listener. A page in a browser that has made its own name resolve
// to 127.0.0.1 still sends that name.
bool is_host_of(std::string_view host, std::uint16_t port);

}  // namespace paddock::supervisor
