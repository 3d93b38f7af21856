#pragma once
// ServiceManager: how the daemon talks to systemd. service_manager.cpp is the only file that
// includes libsystemd. Not started by systemd: every call does nothing.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/fd.hpp"

namespace paddock::supervisor {

struct PassedSocket {
  kernel::Fd fd;
  std::string name;  // FileDescriptorName= of the socket unit
};

class ServiceManager {
 public:
  // Takes what systemd said to us out of the environment (NOTIFY_SOCKET, LISTEN_*, WATCHDOG_*), so
  // that no child can notify in our name. Call it once, before anything opens descriptors.
  ServiceManager();

  // The sockets of socket activation; the caller owns them. Empty the second time.
  std::vector<PassedSocket> take_sockets();

  // Send watchdog() at least twice in this time, or systemd kills the daemon. nullopt: no watchdog.
  std::optional<std::chrono::microseconds> watchdog_interval() const { return watchdog_interval_; }

  // `status` is the line that `systemctl status` shows.
  void ready(std::string_view status);
  void reloading();  // follow it with ready(), also when the reload failed
  void stopping(std::string_view status);
  void status(std::string_view status);
  void watchdog();

 private:
  void notify(const std::string& message);

  std::string notify_socket_;  // empty: nobody listens
  std::vector<PassedSocket> sockets_;
  std::optional<std::chrono::microseconds> watchdog_interval_;
};

}  // namespace paddock::supervisor
