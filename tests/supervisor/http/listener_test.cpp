#include "supervisor/http/listener.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "http_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using paddock::kernel::ErrorCode;
using paddock::kernel::Fd;

namespace {

bool exists(const std::string& path) {
  return std::filesystem::exists(std::filesystem::symlink_status(path));
}

// The message that binding `path` is refused with; "" if it is not.
std::string refusal(const std::string& path) {
  const auto listener = bind_listener(path);
  return listener ? "" : listener.error().message;
}

struct ListenerFixture {
  TemporaryDirectory directory;
  std::string path = directory.file("paddock.sock");
};

}  // namespace

TEST_CASE_METHOD(ListenerFixture, "a bound socket is private, and its file goes with it") {
  const mode_t mask = ::umask(0);
  {
    const auto listener = bind_listener(path);
    REQUIRE(listener);
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    CHECK(S_ISSOCK(status.st_mode));
    CHECK((status.st_mode & 07777) == 0600);
    CHECK(::umask(0) == 0);  // as it was before
    CHECK((::fcntl(listener->fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
    Client client(path);
  }
  CHECK_FALSE(exists(path));
  ::umask(mask);
}

TEST_CASE_METHOD(ListenerFixture, "a socket for a group is its in a directory that is its, too") {
  const gid_t group = ::geteuid() == 0 ? 12345 : ::getegid();
  const auto mode_and_group = [&] {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return std::pair<mode_t, gid_t>(status.st_mode & 07777, status.st_gid);
  };
  REQUIRE(::chown(directory.path().c_str(), static_cast<uid_t>(-1), group) == 0);
  REQUIRE(::chmod(directory.path().c_str(), 0750) == 0);
  CHECK_FALSE(bind_listener(path));             // for nobody
  CHECK_FALSE(bind_listener(path, group + 1));  // for another group
  {
    const auto listener = bind_listener(path, group);
    REQUIRE(listener);
    CHECK(mode_and_group() == std::pair<mode_t, gid_t>(0660, group));
    CHECK(open_socket_to(path, std::nullopt));
    CHECK(mode_and_group().first == 0600);
    CHECK(open_socket_to(path, group));
    CHECK(mode_and_group() == std::pair<mode_t, gid_t>(0660, group));
  }
  for (const mode_t mode : {0770, 0751, 0754}) {  // it could change something, or others get in
    REQUIRE(::chmod(directory.path().c_str(), mode) == 0);
    CHECK_FALSE(bind_listener(path, group));
  }
  REQUIRE(::chmod(directory.path().c_str(), 0700) == 0);
  CHECK(bind_listener(path, group));
  std::ofstream(directory.file("plain")) << "x";
  CHECK_FALSE(open_socket_to(directory.file("plain"), group));
  CHECK_FALSE(open_socket_to(directory.file("missing"), group));
}

TEST_CASE_METHOD(ListenerFixture,
                 "a path that is too long is an error with its length and the limit") {
  const std::string longest =
      directory.file(std::string(socket_path_bytes_max - directory.path().size() - 1, 'x'));
  REQUIRE(longest.size() == 107);
  CHECK(bind_listener(longest));
  const auto listener = bind_listener(longest + "x");
  REQUIRE_FALSE(listener);
  CHECK(listener.error().code == ErrorCode::invalid_request);
  CHECK(listener.error().message ==
        "the socket path '" + longest +
            "x' has 108 bytes, and a Unix socket path can have at most 107");
  CHECK(refusal("") == "the socket path is empty");
  CHECK(refusal(std::string("/tmp/a\0b", 8)) == "the socket path contains a NUL");
}

TEST_CASE_METHOD(ListenerFixture, "a directory that lets others in is refused") {
  for (const mode_t mode : {0755, 0770, 0701, 0710}) {
    REQUIRE(::chmod(directory.path().c_str(), mode) == 0);
    const std::string message = refusal(path);
    INFO(message);
    CHECK(message.find("'" + directory.path() + "'") != std::string::npos);
    CHECK(message.find("group and others must not get in") != std::string::npos);
    CHECK_FALSE(exists(path));
  }
  REQUIRE(::chmod(directory.path().c_str(), 0700) == 0);
  CHECK(refusal(path).empty());
}

TEST_CASE_METHOD(ListenerFixture, "a directory that is missing or is none is refused") {
  const std::string missing = directory.file("missing");
  CHECK(refusal(missing + "/s") ==
        "open the socket directory '" + missing + "': No such file or directory");
  const std::string file = directory.file("file");
  std::ofstream(file) << "text";
  CHECK(refusal(file + "/s") == "open the socket directory '" + file + "': Not a directory");
}

TEST_CASE_METHOD(ListenerFixture, "a directory of somebody else is refused") {
  if (::geteuid() != 0) return;  // only root can give a directory away
  REQUIRE(::chown(directory.path().c_str(), 12345, 12345) == 0);
  CHECK(refusal(path) == "the socket directory '" + directory.path() +
                             "' belongs to uid 12345: it must belong to uid 0 or to root");
}

TEST_CASE_METHOD(ListenerFixture, "a socket that a daemon listens on is left to it") {
  const auto first = bind_listener(path);
  REQUIRE(first);
  CHECK(refusal(path) == "'" + path + "' is already in use by a running daemon");
  CHECK(exists(path));
}

TEST_CASE_METHOD(ListenerFixture, "a daemon whose queue is full counts as running") {
  const Fd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  REQUIRE(::bind(listening.get(), generic, sizeof address) == 0);
  REQUIRE(::listen(listening.get(), /*backlog=*/0) == 0);
  const Client waiting(path);
  CHECK(refusal(path) == "'" + path + "' is already in use by a running daemon");
}

TEST_CASE_METHOD(ListenerFixture, "a stale socket is replaced") {
  {
    const Fd stale(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    REQUIRE(::bind(stale.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  REQUIRE(exists(path));
  const auto listener = bind_listener(path);
  REQUIRE(listener);
  Client client(path);
}

TEST_CASE_METHOD(ListenerFixture, "anything but a socket is left alone") {
  std::ofstream(path) << "precious";
  CHECK(refusal(path) == "'" + path + "' exists and is not a socket: it is left alone");
  CHECK(std::filesystem::file_size(path) == 8);
  std::filesystem::remove(path);

  std::filesystem::create_symlink(directory.file("target.sock"), path);
  const auto target = bind_listener(directory.file("target.sock"));
  CHECK(refusal(path) == "'" + path + "' exists and is not a socket: it is left alone");
  std::filesystem::remove(path);

  std::filesystem::create_directory(path);
  CHECK(refusal(path) == "'" + path + "' exists and is not a socket: it is left alone");
}

TEST_CASE_METHOD(ListenerFixture, "a stale socket of somebody else is left alone") {
  if (::geteuid() != 0) return;  // only root can give a socket away
  auto listener = bind_listener(path);
  REQUIRE(listener);
  listener->fd.close();
  REQUIRE(::lchown(path.c_str(), 12345, 12345) == 0);
  CHECK(refusal(path) == "'" + path + "' is a socket of uid 12345: it is left alone");
}

TEST_CASE_METHOD(ListenerFixture,
                 "two daemons that start together do not take each other's socket") {
  const Fd other(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(::flock(other.get(), LOCK_EX) == 0);
  CHECK(refusal(path) == "another daemon is just starting at '" + path + "'");
}

TEST_CASE_METHOD(ListenerFixture, "one daemon binds two sockets in one directory") {
  const auto first = bind_listener(path);
  const auto second = bind_listener(directory.file("trainer.sock"));
  CHECK(first);
  CHECK(second);
}

TEST_CASE_METHOD(ListenerFixture, "a file that has been replaced is not removed") {
  {
    const auto listener = bind_listener(path);
    REQUIRE(listener);
    REQUIRE(::unlink(path.c_str()) == 0);
    std::ofstream(path) << "somebody else's";
  }
  CHECK(exists(path));
}

TEST_CASE_METHOD(ListenerFixture, "a passed socket serves, and its file is not ours to remove") {
  auto bound = bind_listener(path);
  REQUIRE(bound);
  auto adopted = adopt_listener(Fd(::dup(bound->fd.get())));
  REQUIRE(adopted);
  CHECK((::fcntl(adopted->fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  const auto loop = EventLoop::create().value();
  int requests = 0;
  auto server = Server::start(loop->get(), std::move(*adopted), {},
                              [&](const HttpRequest&, const Exchange& exchange) {
                                ++requests;
                                exchange.respond({});
                              })
                    .value();
  Client client(path);
  client.send(get("/"));
  while (client.received.empty()) {
    uv_run(loop->get(), UV_RUN_NOWAIT);
    client.move();
  }
  CHECK(requests == 1);
  server.reset();
  CHECK(exists(path));
}

TEST_CASE("a passed descriptor that does not listen is refused") {
  const auto socket = adopt_listener(Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  REQUIRE_FALSE(socket);
  CHECK(socket.error().message.find("is not a listening Unix stream socket") != std::string::npos);
  CHECK_FALSE(adopt_listener(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC))));
  CHECK_FALSE(adopt_listener(Fd()));
}
