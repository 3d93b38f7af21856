#include "supervisor/telemetry/service_manager.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>

#include "support/catch.hpp"

using namespace paddock::supervisor;
using paddock::kernel::Fd;

namespace {

// Plays systemd: an abstract datagram socket whose name is in NOTIFY_SOCKET.
class NotifyFixture {
 public:
  NotifyFixture() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socklen_t size = sizeof(sa_family_t);  // no name: the kernel picks an abstract one
    REQUIRE(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    size = sizeof address;
    REQUIRE(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    const std::size_t name_size = size - offsetof(sockaddr_un, sun_path) - 1;
    ::setenv("NOTIFY_SOCKET", ("@" + std::string(address.sun_path + 1, name_size)).c_str(), 1);
  }
  ~NotifyFixture() { ::unsetenv("NOTIFY_SOCKET"); }

  std::string receive() {
    char buffer[4096];
    const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    return count < 0 ? "" : std::string(buffer, static_cast<std::size_t>(count));
  }

 private:
  Fd fd_;
};

}  // namespace

TEST_CASE("without a service manager everything is a no-op") {
  ::unsetenv("NOTIFY_SOCKET");
  ServiceManager manager;
  manager.ready("up");
  manager.reloading();
  manager.stopping("down");
  manager.watchdog();
  CHECK(manager.take_sockets().empty());
  CHECK_FALSE(manager.watchdog_interval());
}

TEST_CASE_METHOD(NotifyFixture, "the service manager hears of each state, and no child could") {
  ServiceManager manager;
  CHECK(std::getenv("NOTIFY_SOCKET") == nullptr);
  manager.ready("3 profiles");
  CHECK(receive() == "READY=1\nSTATUS=3 profiles");
  manager.status("two\nlines");
  CHECK(receive() == "STATUS=two lines");
  manager.watchdog();
  CHECK(receive() == "WATCHDOG=1");
  manager.stopping("draining");
  CHECK(receive() == "STOPPING=1\nSTATUS=draining");
  CHECK(std::getenv("NOTIFY_SOCKET") == nullptr);
}

TEST_CASE_METHOD(NotifyFixture, "a reload and its time are one message") {
  ServiceManager manager;
  manager.reloading();
  const std::string message = receive();
  CHECK(message.starts_with("RELOADING=1\nMONOTONIC_USEC="));
  CHECK(receive().empty());
}

TEST_CASE("the watchdog interval is taken out of the environment") {
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  const ServiceManager manager;
  CHECK(manager.watchdog_interval() == std::chrono::seconds(30));
  CHECK(std::getenv("WATCHDOG_USEC") == nullptr);
}

TEST_CASE("passed sockets come with their names, close-on-exec, once") {
  // Passed descriptors start at 3 by convention; whatever is there now comes back afterwards.
  constexpr int first_passed = 3;
  const Fd saved(::fcntl(first_passed, F_DUPFD_CLOEXEC, 10));
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  if (socket.get() != first_passed) REQUIRE(::dup2(socket.get(), first_passed) == first_passed);
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
  ::setenv("LISTEN_FDS", "1", 1);
  ::setenv("LISTEN_FDNAMES", "paddock", 1);
  {
    ServiceManager manager;
    const auto sockets = manager.take_sockets();
    REQUIRE(sockets.size() == 1);
    CHECK(sockets[0].fd.get() == first_passed);
    CHECK(sockets[0].name == "paddock");
    CHECK(::fcntl(first_passed, F_GETFD) == FD_CLOEXEC);
    CHECK(manager.take_sockets().empty());
    CHECK(std::getenv("LISTEN_FDS") == nullptr);
  }
  if (saved) ::dup2(saved.get(), first_passed);
}
