#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "kernel/policy/scratch_directory.hpp"
#include "kernel/run/workspace.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

// TMPDIR for as long as it lives.
struct TemporaryDirectory {
  explicit TemporaryDirectory(const std::string& path) {
    const char* const value = std::getenv("TMPDIR");
    before = value == nullptr ? "" : value;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~TemporaryDirectory() {
    before.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before.c_str(), 1);
  }
  std::string before;
};

}  // namespace

TEST_CASE("a workspace that a killed supervisor left is swept, and one in use is not") {
  const ScratchDirectory scratch;
  const TemporaryDirectory temporary(scratch.path());
  const std::string left = scratch.path() + "/paddock-workspace-aaaaaa";
  const std::string other = scratch.path() + "/paddock-notes";
  REQUIRE(::mkdir(left.c_str(), 0700) == 0);
  REQUIRE(::mkdir((left + "/deep").c_str(), 0700) == 0);
  REQUIRE(::mkdir(other.c_str(), 0700) == 0);
  const auto held = Workspace::create(std::nullopt);
  REQUIRE(held);

  Workspace::sweep();  // all too young
  CHECK(std::filesystem::exists(left));
  Workspace::sweep(0);
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK(std::filesystem::exists(other));
  CHECK(std::filesystem::exists(held->path()));
}
