#include "kernel/confine/host_uid.hpp"

#include <sys/wait.h>

#include <optional>
#include <set>
#include <vector>

#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

TEST_CASE("two leases never share a host uid, and both are in the range") {
  const ScratchDirectory scratch;
  const HostUidRange range{.first = 70'000, .count = 3};
  std::vector<HostUidLease> leases;
  std::set<uid_t> uids;
  for (uid_t i = 0; i < range.count; ++i) {
    auto lease = HostUidLease::take(range, scratch.path() + "/locks");
    REQUIRE(lease);
    uids.insert(lease->uid());
    leases.push_back(std::move(*lease));
  }
  CHECK(uids == std::set<uid_t>{70'000, 70'001, 70'002});
}

TEST_CASE("when every host uid is leased the next run is told to try later") {
  const ScratchDirectory scratch;
  const HostUidRange range{.first = 70'000, .count = 1};
  std::optional<HostUidLease> lease = *HostUidLease::take(range, scratch.path() + "/locks");
  const auto refused = HostUidLease::take(range, scratch.path() + "/locks");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error{ErrorCode::too_busy, "all 1 host uids for runs are in use"});

  lease.reset();
  const auto next = HostUidLease::take(range, scratch.path() + "/locks");
  REQUIRE(next);
  CHECK(next->uid() == 70'000);
}

TEST_CASE("a lease holds against other processes and ends with its process") {
  const ScratchDirectory scratch;
  const HostUidRange range{.first = 70'000, .count = 1};
  const std::string locks = scratch.path() + "/locks";
  auto lease = HostUidLease::take(range, locks);
  REQUIRE(lease);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(HostUidLease::take(range, locks) ? 1 : 0);
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("a smaller range is kept to after a larger one was used") {
  const ScratchDirectory scratch;
  const HostUidRange large{.first = 70'000, .count = 1000};
  const HostUidRange small{.first = 80'000, .count = 2};
  for (int i = 0; i < 20; ++i) REQUIRE(HostUidLease::take(large, scratch.path() + "/locks"));
  for (int i = 0; i < 4; ++i) {
    const auto lease = HostUidLease::take(small, scratch.path() + "/locks");
    REQUIRE(lease);
    CHECK(small.contains(lease->uid()));
  }
}

TEST_CASE("an empty range has no host uid to give") {
  const ScratchDirectory scratch;
  const auto refused = HostUidLease::take({.first = 70'000, .count = 0}, scratch.path() + "/locks");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::too_busy);
}

TEST_CASE("a host uid rests between two runs") {
  const ScratchDirectory scratch;
  const HostUidRange range{.first = 70'000, .count = 3};
  const uid_t first = HostUidLease::take(range, scratch.path() + "/locks")->uid();
  const uid_t second = HostUidLease::take(range, scratch.path() + "/locks")->uid();
  CHECK(first != second);
}

TEST_CASE("a shared host uid is shared with those who ask for it and with nobody else") {
  const ScratchDirectory scratch;
  const HostUidRange range{.first = 70'000, .count = 1};
  const std::string locks = scratch.path() + "/locks";
  {
    const auto first = HostUidLease::share(70'000, locks);
    const auto second = HostUidLease::share(70'000, locks);
    REQUIRE(first);
    REQUIRE(second);
    CHECK_FALSE(HostUidLease::take(range, locks));
  }
  const auto alone = HostUidLease::take(range, locks);
  REQUIRE(alone);
  const auto refused = HostUidLease::share(70'000, locks);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error{ErrorCode::too_busy, "host uid 70000 belongs to another run at the moment"});
}

TEST_CASE("lock files that cannot be made are an error that names the place") {
  const auto refused = HostUidLease::take({}, "/nonexistent/locks");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error{ErrorCode::io, "make '/nonexistent/locks': No such file or directory"});
}

TEST_CASE("a uid that is kept for a directory is passed by as long as the directory is there") {
  const ScratchDirectory scratch;
  const std::string locks = scratch.path() + "/locks";
  const uid_t own = ::geteuid();  // who owns what the test makes
  const HostUidRange range{.first = own, .count = 2};
  const std::string directory = scratch.directory("workspace");
  {
    auto kept = HostUidLease::share(own, locks);
    REQUIRE(kept->keep_for(directory));
    CHECK(HostUidLease::share(own, locks));
  }
  for (int i = 0; i < 4; ++i) CHECK(HostUidLease::take(range, locks)->uid() == own + 1);
  CHECK(HostUidLease::share(own, locks));
  std::filesystem::remove(directory);
  std::set<uid_t> taken;
  for (int i = 0; i < 4; ++i) taken.insert(HostUidLease::take(range, locks)->uid());
  CHECK(taken == std::set<uid_t>{own, own + 1});
}
