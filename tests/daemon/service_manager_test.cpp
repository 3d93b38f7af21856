// The daemon under a service manager: sockets passed in, and what it tells about itself.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "support/daemon_fixture.hpp"

using nlohmann::json;
using paddock::kernel::Fd;

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

Fd bound_socket(const std::string& path, int type) {
  Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

// Plays systemd's side of sd_notify.
class NotifySocket {
 public:
  NotifySocket() : fd_(bound_socket(directory_.path("notify"), SOCK_DGRAM)) {
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  std::pair<std::string, std::string> variable() const {
    return {"NOTIFY_SOCKET", directory_.path("notify")};
  }
  // The next message; empty if none comes.
  std::string receive() const {
    char buffer[4096];
    const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    return count < 0 ? "" : std::string(buffer, static_cast<std::size_t>(count));
  }

 private:
  DaemonDirectory directory_;
  Fd fd_;
};

// Plays systemd's side of socket activation: descriptors from 3 on, and who they are for.
void pass_sockets(const std::vector<int>& sockets) {
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    const int number = static_cast<int>(3 + i);
    if (sockets[i] == number) {
      ::fcntl(number, F_SETFD, 0);
    } else {
      ::dup2(sockets[i], number);
    }
  }
  ::setenv("LISTEN_FDS", std::to_string(sockets.size()).c_str(), 1);
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
}

}  // namespace

TEST_CASE("the service manager hears when the daemon is ready, reloads and stops") {
  const NotifySocket notify;
  DaemonFixture daemon({.environment = {notify.variable()}});
  CHECK(notify.receive().starts_with("READY=1\nSTATUS=serving"));

  daemon.signal(SIGHUP);
  std::string message = notify.receive();
  CHECK(message.starts_with("RELOADING=1\nMONOTONIC_USEC="));
  message = notify.receive();
  CHECK(message == "STATUS=serving");
  CHECK(notify.receive().starts_with("READY=1\n"));

  daemon.directory().write("profiles/bad.toml", "name = ");
  daemon.signal(SIGHUP);
  CHECK(notify.receive().starts_with("RELOADING=1\n"));
  CHECK(notify.receive() == "STATUS=serving; the last reload failed, older profiles are in force");
  CHECK(notify.receive().starts_with("READY=1\n"));

  daemon.signal(SIGTERM);
  CHECK(notify.receive().starts_with("STOPPING=1\n"));
  CHECK(daemon.wait_for_end().exit_status == 0);
}

TEST_CASE("the watchdog is fed for as long as the loop turns") {
  const NotifySocket notify;
  const DaemonFixture daemon({.environment = {notify.variable(), {"WATCHDOG_USEC", "300000"}}});
  CHECK(notify.receive().starts_with("READY=1\n"));
  for (int i = 0; i < 4; ++i) CHECK(notify.receive() == "WATCHDOG=1");
}

TEST_CASE("a run can neither notify the service manager nor see its sockets") {
  const NotifySocket notify;
  const DaemonFixture daemon({.environment = {notify.variable()}});
  const json result = daemon.run(shell("env; ls -l /proc/self/fd | grep -c socket"))["result"];
  CHECK(result["stdout"].get<std::string>().find("NOTIFY") == std::string::npos);
  CHECK(result["stdout"].get<std::string>().ends_with("\n0\n"));
}

TEST_CASE("sockets that the service manager passes are served, whatever their order") {
  const DaemonDirectory directory;
  const std::string runtime = directory.make_directory("run");
  const Fd trainer = bound_socket(runtime + "/trainer.sock", SOCK_STREAM);
  const Fd main = bound_socket(runtime + "/paddock.sock", SOCK_STREAM);
  REQUIRE(::listen(trainer.get(), 16) == 0);
  REQUIRE(::listen(main.get(), 16) == 0);
  struct stat before {};
  REQUIRE(::stat((runtime + "/paddock.sock").c_str(), &before) == 0);
  {
    // High numbers, so that no dup2 hits a descriptor that is still to be passed.
    const Fd high_trainer(::fcntl(trainer.get(), F_DUPFD_CLOEXEC, 100));
    const Fd high_main(::fcntl(main.get(), F_DUPFD_CLOEXEC, 100));
    DaemonFixture daemon({.runtime_directory = runtime, .in_child = [&] {
                            pass_sockets({high_trainer.get(), high_main.get()});
                          }});
    CHECK(daemon.run(shell("echo $LISTEN_FDS$LISTEN_PID"))["result"]["stdout"] == "\n");
    CHECK(http(daemon.trainer_socket(), "GET", "/health").status == 200);
    CHECK(http(daemon.trainer_socket(), "GET", "/v1/host").status == 404);
    daemon.signal(SIGTERM);
    CHECK(daemon.wait_for_end().exit_status == 0);
  }
  // They are the service manager's: it starts the next daemon on them.
  struct stat after {};
  REQUIRE(::stat((runtime + "/paddock.sock").c_str(), &after) == 0);
  CHECK(after.st_ino == before.st_ino);
}

TEST_CASE("a client that connected before the daemon was there is served") {
  const DaemonDirectory directory;
  const std::string runtime = directory.make_directory("run");
  const Fd main = bound_socket(runtime + "/paddock.sock", SOCK_STREAM);
  REQUIRE(::listen(main.get(), 16) == 0);
  HttpConnection early(runtime + "/paddock.sock");
  early.send_request("POST", "/v1/runs", shell("echo early").dump());
  const Fd high(::fcntl(main.get(), F_DUPFD_CLOEXEC, 100));
  const DaemonFixture daemon(
      {.runtime_directory = runtime, .in_child = [&] { pass_sockets({high.get()}); }});
  CHECK(early.receive_reply().json()["result"]["stdout"] == "early\n");
  CHECK(http(daemon.trainer_socket(), "GET", "/health").status == 200);
}

TEST_CASE("a passed socket that is neither of the two is left alone, with a warning") {
  const DaemonDirectory directory;
  const Fd other = bound_socket(directory.path("other.sock"), SOCK_STREAM);
  REQUIRE(::listen(other.get(), 16) == 0);
  const Fd high(::fcntl(other.get(), F_DUPFD_CLOEXEC, 100));
  const DaemonFixture daemon({.in_child = [&] { pass_sockets({high.get()}); }});
  CHECK(daemon.get("/health").status == 200);
  CHECK(daemon.log().find("neither paddock.sock nor trainer.sock") != std::string::npos);
}
