#include "supervisor/recovery/sockets.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "kernel/base/fd.hpp"
#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

kernel::Fd bound_to(const std::string& path) {
  kernel::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

bool is_there(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

}  // namespace

TEST_CASE("a socket that a process still has is left alone, and one that nobody has is removed") {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/paddock.sock";
  {
    const kernel::Fd held = bound_to(path);
    CHECK_FALSE(remove_stale_socket(path));
    CHECK(is_there(path));
  }
  CHECK(remove_stale_socket(path));
  CHECK_FALSE(is_there(path));
  CHECK_FALSE(remove_stale_socket(path));
}

TEST_CASE("what is no socket is not removed") {
  const ScratchDirectory directory;
  const std::string file = directory.file("paddock.sock", "text");
  CHECK_FALSE(remove_stale_socket(file));
  CHECK(is_there(file));
}

TEST_CASE("a path is found in the list of sockets as a whole") {
  const std::string list =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0: 00000002 00000000 00010000 0001 01 1 /run/paddock/paddock.sock\n"
      "0: 00000002 00000000 00010000 0001 01 2\n";
  CHECK(is_bound(list, "/run/paddock/paddock.sock"));
  CHECK_FALSE(is_bound(list, "/paddock.sock"));
  CHECK_FALSE(is_bound(list, "/run/paddock/paddock.soc"));
  CHECK_FALSE(is_bound("", "/run/paddock/paddock.sock"));
}
