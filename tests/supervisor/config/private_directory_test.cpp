#include "supervisor/config/private_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

struct Scratch {
  Scratch() {
    std::string pattern = "/tmp/paddock-test-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

unsigned mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

std::string refusal(const std::string& path) {
  const auto made = ensure_private_directory(path);
  INFO(path);
  CHECK_FALSE(made);
  return made ? "" : made.error().message;
}

}  // namespace

TEST_CASE("a private directory is made with its parents, and found again") {
  const Scratch scratch;
  const std::string path = scratch.path + "/a/b/c";
  CHECK(ensure_private_directory(path));
  for (const char* part : {"/a", "/a/b", "/a/b/c"}) CHECK(mode_of(scratch.path + part) == 0700);
  CHECK(ensure_private_directory(path));
  CHECK(ensure_private_directory(path + "/"));
  CHECK(ensure_private_directory(path + "//d//"));
  CHECK(mode_of(path + "/d") == 0700);
}

TEST_CASE("a private directory is private whatever the umask is") {
  const Scratch scratch;
  const mode_t before = ::umask(0);
  CHECK(ensure_private_directory(scratch.path + "/open/inner"));
  ::umask(before);
  CHECK(mode_of(scratch.path + "/open") == 0700);
  CHECK(mode_of(scratch.path + "/open/inner") == 0700);
}

TEST_CASE("a directory that others can enter is refused and left as it is") {
  const Scratch scratch;
  const std::string path = scratch.path + "/loose";
  REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  for (const unsigned mode : {0755u, 0701u, 0710u, 0740u, 0770u, 01777u}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    CHECK(refusal(path) == "directory '" + path + "' can be entered by others; chmod 700 it");
    CHECK(mode_of(path) == mode);
  }
}

TEST_CASE("what is not a directory of one's own is refused") {
  const Scratch scratch;
  CHECK(refusal("").find("not an absolute path") != std::string::npos);
  CHECK(refusal("relative/path") == "directory 'relative/path' is not an absolute path");

  const std::string file = scratch.path + "/file";
  std::ofstream(file) << "x";
  CHECK(refusal(file) == "'" + file + "' is not a directory");
  CHECK_FALSE(refusal(file + "/below").empty());

  REQUIRE(ensure_private_directory(scratch.path + "/real"));
  const std::string link = scratch.path + "/link";
  REQUIRE(::symlink((scratch.path + "/real").c_str(), link.c_str()) == 0);
  CHECK(refusal(link) == "'" + link + "' is not a directory");
  CHECK(refusal(link + "/") == "'" + link + "' is not a directory");
  const std::string dangling = scratch.path + "/dangling";
  REQUIRE(::symlink("/no/such/place", dangling.c_str()) == 0);
  CHECK(refusal(dangling) == "'" + dangling + "' is not a directory");

  // /proc/1 belongs to root; as root another user's directory has to be made.
  if (::geteuid() == 0) {
    const std::string other = scratch.path + "/other";
    REQUIRE(::mkdir(other.c_str(), 0700) == 0);
    REQUIRE(::chown(other.c_str(), 12345, 12345) == 0);
    CHECK(refusal(other) == "directory '" + other + "' belongs to uid 12345, not to this user");
  } else {
    CHECK(refusal("/root").find("belongs to uid 0") != std::string::npos);
  }
}

TEST_CASE("root's state directory can be passed through and no more; a user's is private") {
  const Scratch scratch;
  const std::string path = scratch.path + "/state";
  const unsigned wanted = ::geteuid() == 0 ? 0711 : 0700;
  for (int twice = 0; twice < 2; ++twice) {
    REQUIRE(ensure_state_directory(path));
    CHECK(mode_of(path) == wanted);
  }
  REQUIRE(::chmod(path.c_str(), 0700) == 0);  // as it was made before agents were
  REQUIRE(ensure_state_directory(path));
  CHECK(mode_of(path) == wanted);
  for (const unsigned mode : {0755u, 0715u, 0731u}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    CHECK_FALSE(ensure_state_directory(path));
    CHECK(mode_of(path) == mode);
  }
}

TEST_CASE("a directory that was opened to a group is closed again, or given to another one") {
  const Scratch scratch;
  const std::string path = scratch.path + "/run";
  const gid_t group = ::geteuid() == 0 ? 12345 : ::getegid();
  REQUIRE(ensure_runtime_directory(path, group));
  CHECK(ensure_runtime_directory(path, std::nullopt));
  CHECK(mode_of(path) == 0700);
  CHECK(ensure_private_directory(path));
  if (::geteuid() != 0) return;  // who is not root has this one group
  REQUIRE(ensure_runtime_directory(path, group));
  CHECK(ensure_runtime_directory(path, group + 1));
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK(info.st_gid == group + 1);
}

TEST_CASE("a directory for a group can be entered by it, and changed by nobody else") {
  const Scratch scratch;
  const std::string path = scratch.path + "/run";
  const gid_t group = ::geteuid() == 0 ? 12345 : ::getegid();
  const auto group_of = [&] {
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    return info.st_gid;
  };
  for (int time = 0; time < 2; ++time) {  // made, and found again
    CHECK(ensure_runtime_directory(path, group));
    CHECK(mode_of(path) == 0750);
    CHECK(group_of() == group);
  }
  CHECK_FALSE(ensure_private_directory(path));
  CHECK(mode_of(path) == 0750);
  for (const unsigned mode : {0770u, 0751u, 0754u}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    CHECK_FALSE(ensure_runtime_directory(path, group));
    CHECK_FALSE(ensure_runtime_directory(path, std::nullopt));
  }
  CHECK(open_directory_to(path, std::nullopt));
  CHECK(mode_of(path) == 0700);
  CHECK(open_directory_to(path, group));
  CHECK(mode_of(path) == 0750);
  const std::string link = scratch.path + "/link";
  REQUIRE(::symlink(path.c_str(), link.c_str()) == 0);
  CHECK_FALSE(open_directory_to(link, group));
}
