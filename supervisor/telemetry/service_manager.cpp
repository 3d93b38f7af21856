#include "supervisor/telemetry/service_manager.hpp"

#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace paddock::supervisor {
namespace {

// One assignment a line: a line end in the text would begin another one.
std::string status_assignment(std::string_view status) {
  std::string line = "STATUS=" + std::string(status);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

std::vector<PassedSocket> receive_sockets() {
  char** names = nullptr;
  const int count = sd_listen_fds_with_names(/*unset_environment=*/1, &names);
  std::vector<PassedSocket> sockets;
  for (int i = 0; i < count; ++i) {
    sockets.push_back({kernel::Fd(SD_LISTEN_FDS_START + i), names[i]});
    std::free(names[i]);
  }
  std::free(names);
  return sockets;
}

std::optional<std::chrono::microseconds> receive_watchdog_interval() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/1, &microseconds) <= 0) return std::nullopt;
  return std::chrono::microseconds(microseconds);
}

}  // namespace

ServiceManager::ServiceManager()
    : sockets_(receive_sockets()), watchdog_interval_(receive_watchdog_interval()) {
  if (const char* path = std::getenv("NOTIFY_SOCKET")) notify_socket_ = path;
  ::unsetenv("NOTIFY_SOCKET");
}

std::vector<PassedSocket> ServiceManager::take_sockets() {
  return std::exchange(sockets_, {});
}

void ServiceManager::ready(std::string_view status) {
  notify("READY=1\n" + status_assignment(status));
}

void ServiceManager::reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::chrono::microseconds microseconds =
      std::chrono::seconds(now.tv_sec) +
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds(now.tv_nsec));
  // In one message: systemd kills a Type=notify-reload unit that sends the time separately.
  notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds.count()));
}

void ServiceManager::stopping(std::string_view status) {
  notify("STOPPING=1\n" + status_assignment(status));
}

void ServiceManager::status(std::string_view status) {
  notify(status_assignment(status));
}

void ServiceManager::watchdog() {
  notify("WATCHDOG=1");
}

// sd_notify finds its socket in the environment only, so it is put there for the length of the
// call.
void ServiceManager::notify(const std::string& message) {
  if (notify_socket_.empty()) return;
  ::setenv("NOTIFY_SOCKET", notify_socket_.c_str(), /*overwrite=*/1);
  // Nothing to do about a failure: systemd's own timeouts take care of it.
  sd_notify(/*unset_environment=*/1, message.c_str());
}

}  // namespace paddock::supervisor
