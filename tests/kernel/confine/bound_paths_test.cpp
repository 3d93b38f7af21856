#include "kernel/confine/bound_paths.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

// This process stands for the sandbox: what it sees is the host's own tree.
TEST_CASE("a bind that is swapped for a link after the start is seen in the sandbox's own view") {
  const ScratchDirectory scratch;
  const std::string granted = scratch.path() + "/granted";
  const std::string secret = scratch.path() + "/secret";
  REQUIRE(::mkdir(granted.c_str(), 0700) == 0);
  REQUIRE(::mkdir(secret.c_str(), 0700) == 0);
  const auto bound = BoundPaths::open({granted, "/usr"});
  REQUIRE(bound);
  CHECK(bound->differences(::getpid()).empty());

  REQUIRE(::rename(granted.c_str(), (granted + "-away").c_str()) == 0);
  REQUIRE(::symlink(secret.c_str(), granted.c_str()) == 0);
  CHECK(bound->differences(::getpid()) ==
        std::vector<std::string>{"bind '" + granted +
                                 "' is not the file that was there at the start"});

  REQUIRE(::unlink(granted.c_str()) == 0);
  REQUIRE(bound->differences(::getpid()).size() == 1);
  CHECK(bound->differences(::getpid()).front().find("cannot be seen") != std::string::npos);
}

TEST_CASE("a bind whose path passes through a link is not opened") {
  const ScratchDirectory scratch;
  REQUIRE(::symlink("/usr", (scratch.path() + "/link").c_str()) == 0);
  const auto bound = BoundPaths::open({scratch.path() + "/link/bin"});
  REQUIRE_FALSE(bound);
  CHECK(bound.error().code == ErrorCode::sandbox_policy_error);
  CHECK(bound.error().message.find("symbolic link") != std::string::npos);
}
