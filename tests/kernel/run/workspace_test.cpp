#include "kernel/run/workspace.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

class TemporaryDirectoryIs {
 public:
  explicit TemporaryDirectoryIs(const std::string& path) { ::setenv("TMPDIR", path.c_str(), 1); }
  ~TemporaryDirectoryIs() { ::unsetenv("TMPDIR"); }
};

}  // namespace

TEST_CASE("a workspace is private and goes with all that is in it") {
  const ScratchDirectory scratch;
  const TemporaryDirectoryIs temporary(scratch.path());
  std::string path;
  {
    const auto workspace = Workspace::create(std::nullopt);
    REQUIRE(workspace);
    path = workspace->path();
    CHECK(path.starts_with(scratch.path() + "/paddock-"));
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0700);
    std::filesystem::create_directories(path + "/a/b");
    std::ofstream(path + "/a/b/file") << "text";
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("removing a workspace follows no link out of it") {
  const ScratchDirectory scratch;
  const TemporaryDirectoryIs temporary(scratch.path());
  const std::string canary = scratch.file("canary", "alive");
  {
    const auto workspace = Workspace::create(std::nullopt);
    REQUIRE(workspace);
    std::filesystem::create_directory_symlink(scratch.path(), workspace->path() + "/out");
  }
  CHECK(std::filesystem::exists(canary));
}

TEST_CASE("a workspace that cannot be made or given away is an error, and nothing is left") {
  const ScratchDirectory scratch;
  const std::string empty = scratch.directory("empty");
  {
    const TemporaryDirectoryIs temporary(empty);
    const auto given = Workspace::create(70'000);
    CHECK(given.has_value() == (::geteuid() == 0));  // only root can give it away
  }
  CHECK(std::filesystem::is_empty(empty));
}
