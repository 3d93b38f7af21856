// The mounts of the supervisor itself, which a receipt is compared with.

#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <string>
#include <thread>

#include "kernel/confine/own_mounts.hpp"
#include "kernel/policy/scratch_directory.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

bool has(const std::string& path) {
  const auto mounts = own_mounts();
  return mounts && std::any_of(mounts->begin(), mounts->end(),
                               [&](const Mount& mount) { return mount.path == path; });
}

}  // namespace

TEST_CASE("the own mounts are as they are now, in the mount namespace that the thread is in") {
  NEEDS(is_root(), needs_root);
  const ScratchDirectory scratch;
  const std::string& path = scratch.path();
  bool is_own = false;
  bool before = true, mounted = false, unmounted = true;
  std::thread([&] {
    own_mounts();  // of the namespace that it leaves
    is_own = ::unshare(CLONE_FS | CLONE_NEWNS) == 0 &&
             ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    if (!is_own) return;
    before = has(path);
    is_own = ::mount("paddock", path.c_str(), "tmpfs", 0, nullptr) == 0;
    mounted = has(path);
    ::umount(path.c_str());
    unmounted = has(path);
  }).join();
  REQUIRE(is_own);
  CHECK_FALSE(before);
  CHECK(mounted);
  CHECK_FALSE(unmounted);
  CHECK_FALSE(has(path));
}
