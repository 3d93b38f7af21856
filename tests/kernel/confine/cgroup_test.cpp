#include "kernel/confine/cgroup.hpp"

#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

TEST_CASE("a directory that is not on cgroup2 is no cgroup base") {
  const ScratchDirectory scratch;
  const auto refused = prepare_cgroup_base(scratch.path() + "/base");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error{ErrorCode::sandbox_not_available,
              "cgroup base '" + scratch.path() + "/base' is not on a cgroup2 file system"});
}

TEST_CASE("a cgroup base that cannot be made is refused with the cause") {
  const auto refused = prepare_cgroup_base("/nonexistent/base");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error{ErrorCode::sandbox_not_available,
                                 "cgroup base '/nonexistent/base' cannot be made: No such file or "
                                 "directory"});
}
