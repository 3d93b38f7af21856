#include <grp.h>
#include <unistd.h>

#include <memory>

#include "kernel/policy/scratch_directory.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

TEST_CASE("started as root, runs at the same time have host uids of their own, and never 0") {
  NEEDS(is_root(), needs_root);
  // Groups of the supervisor that must not come along.
  const gid_t groups[] = {4, 27};
  REQUIRE(::setgroups(2, groups) == 0);
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    std::vector<std::unique_ptr<Run>> runs;
    for (const char* name : {"first", "second"}) {
      runs.push_back(
          sandbox.start(policy_of(profile), {program("show_state")}, "", name, RunOptions{})
              .value());
    }
    drive_all({runs[0].get(), runs[1].get()});
    std::vector<uid_t> uids;
    for (const auto& run : runs) {
      const SandboxResult result = run->take_result();
      REQUIRE(result.receipt);
      uids.push_back(result.receipt->host_uid);
      CHECK(HostUidRange{}.contains(result.receipt->host_uid));
      if (profile == std::string("STRICT")) continue;  // there it sees itself as 1000
      const std::string id = std::to_string(result.receipt->host_uid);
      auto seen = values_in(result.stdout);
      CHECK(seen["Uid"] == id + " " + id + " " + id + " " + id);
      CHECK(seen["Gid"] == id + " " + id + " " + id + " " + id);
      CHECK(seen["Groups"].empty());
    }
    CHECK(uids[0] != uids[1]);
  }
  REQUIRE(::setgroups(0, nullptr) == 0);
}

TEST_CASE("started as root, a run cannot read what only root can") {
  NEEDS(is_root(), needs_root);
  const ScratchDirectory scratch;
  ScratchDirectory::set_mode(scratch.path(), 0755);
  const std::string secret = scratch.file("secret", "canary");
  ScratchDirectory::set_mode(secret, 0600);
  CHECK(run(policy_of("OFF"), {program("open_path"), "read", secret}).stdout == "EACCES\n");
}

TEST_CASE("started as a user, a run has that user's uid") {
  NEEDS(!is_root(), needs_user);
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    const SandboxResult result = run(policy_of(profile), {"true"});
    REQUIRE(result.receipt);
    CHECK(result.receipt->host_uid == ::getuid());
  }
}
