// The profiles and agents that are shipped: they load, and have the numbers that are promised.

#include "kernel/policy/load.hpp"
#include "kernel/policy/policy.hpp"
#include "scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t mib = 1u << 20;
constexpr std::uint64_t gib = 1u << 30;

// Copies, because a checkout may belong to another user or be writable by a group.
void copy_to(const std::string& directory, const std::string& from) {
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    const std::string file = directory + "/" + entry.path().filename().string();
    std::filesystem::copy_file(entry.path(), file);
    ScratchDirectory::set_mode(file, 0644);
  }
}

Catalog shipped() {
  const ScratchDirectory scratch;
  const std::string profiles = scratch.directory("profiles");
  const std::string agents = scratch.directory("agents");
  copy_to(profiles, PADDOCK_PROFILES);
  copy_to(agents, PADDOCK_AGENTS);
  LoadResult result = load_catalog({profiles}, {agents});
  for (const Diagnostic& diagnostic : result.diagnostics) UNSCOPED_INFO(to_string(diagnostic));
  REQUIRE(result.ok());
  return std::move(result.catalog);
}

}  // namespace

TEST_CASE("the shipped profiles and agents are these") {
  const Catalog catalog = shipped();
  std::vector<std::string> names;
  for (const auto& [name, profile] : catalog.profiles) names.push_back(name);
  for (const auto& [name, agent] : catalog.agents) names.push_back(name);
  CHECK(names == std::vector<std::string>{"DEFAULT", "GO", "JVM", "NODE", "OFF", "SEALED", "STRICT",
                                          "heartbeat", "python", "shell"});
  for (const auto& [name, profile] : catalog.profiles) {
    CHECK_FALSE(profile.description.empty());
    CHECK(profile.new_session);
    CHECK(profile.limits.core_size == 0);
    CHECK(profile.grace >= 1s);
  }
}

TEST_CASE("OFF limits nothing and uses no bubblewrap") {
  const Profile profile = shipped().profiles.at("OFF");
  CHECK(profile.limits == ResourceLimits{});
  CHECK_FALSE(profile.wall_clock);
  CHECK(profile.cgroup == CgroupLimits{});
  CHECK_FALSE(profile.use_bubblewrap);
  CHECK_FALSE(profile.deny_network);
  CHECK(profile.seccomp == SeccompUse::off);
  CHECK(profile.landlock.use == LandlockUse::never);
}

TEST_CASE("DEFAULT has the limits of the AgentSandbox RFC") {
  const Profile profile = shipped().profiles.at("DEFAULT");
  CHECK(profile.limits == ResourceLimits{300, 2 * gib, 1 * gib, 64, 1024, 0});
  CHECK(profile.wall_clock == 900s);
  CHECK_FALSE(profile.use_bubblewrap);
  CHECK_FALSE(profile.deny_network);
  CHECK(profile.seccomp == SeccompUse::default_list);
  CHECK(profile.landlock == LandlockLimits{LandlockUse::if_supported, 2});
}

TEST_CASE("STRICT has the limits of the AgentSandbox RFC and grants a request nothing") {
  const Profile profile = shipped().profiles.at("STRICT");
  CHECK(profile.limits == ResourceLimits{120, 512 * mib, 64 * mib, 16, 256, 0});
  CHECK(profile.wall_clock == 300s);
  CHECK(profile.grace == 1s);
  CHECK(profile.output_bytes == 10 * mib);
  CHECK(profile.output_stop_bytes == 1024 * mib);
  CHECK(profile.cgroup == CgroupLimits{CgroupUse::if_delegated, 512 * mib, 64, 1.0});
  CHECK(profile.use_bubblewrap);
  CHECK(profile.deny_network);
  CHECK(profile.bind_ro == std::vector<std::string>{"/usr"});
  CHECK(profile.bind_rw.empty());
  CHECK(profile.tmp_bytes == 64 * mib);
  CHECK(profile.seccomp == SeccompUse::strict);
  CHECK(profile.landlock == LandlockLimits{LandlockUse::if_supported, 2});
  CHECK(profile.requests == RequestRights{});
  CHECK(profile.allow_environment == std::vector<std::string>{"LANG", "TZ"});
}

TEST_CASE("SEALED is STRICT with nothing optional") {
  const Catalog catalog = shipped();
  const Profile sealed = catalog.profiles.at("SEALED");
  CHECK(sealed.cgroup.use == CgroupUse::required);
  CHECK(sealed.landlock == LandlockLimits{LandlockUse::required, 1});
  CHECK(sealed.own_host_uid);
  Profile relaxed = sealed;
  const Profile& strict = catalog.profiles.at("STRICT");
  relaxed.name = strict.name;
  relaxed.description = strict.description;
  relaxed.source = strict.source;
  relaxed.cgroup.use = strict.cgroup.use;
  relaxed.landlock = strict.landlock;
  relaxed.own_host_uid = strict.own_host_uid;
  CHECK(relaxed == strict);
}

TEST_CASE("GO, NODE and JVM are isolated as STRICT is, without a limit on virtual memory") {
  const Catalog catalog = shipped();
  const Profile& strict = catalog.profiles.at("STRICT");
  for (const std::string name : {"GO", "NODE", "JVM"}) {
    const Profile& profile = catalog.profiles.at(name);
    CHECK_FALSE(profile.limits.memory_bytes);
    CHECK(profile.cgroup.memory_max.has_value());
    CHECK(profile.wall_clock.has_value());
    CHECK(profile.use_bubblewrap == strict.use_bubblewrap);
    CHECK(profile.deny_network == strict.deny_network);
    CHECK(profile.bind_ro == strict.bind_ro);
    CHECK(profile.bind_rw == strict.bind_rw);
    CHECK(profile.seccomp == strict.seccomp);
    CHECK(profile.landlock == strict.landlock);
    CHECK(profile.requests == strict.requests);
  }
  CHECK(catalog.profiles.at("NODE").limits.nproc == 64);
  CHECK(catalog.profiles.at("JVM").limits.nproc == 128);
}

TEST_CASE("each shipped profile and agent makes a valid policy on this host") {
  const Catalog catalog = shipped();
  for (const auto& [name, profile] : catalog.profiles) {
    const auto policy = resolve(profile, {});
    REQUIRE(policy);
    CHECK(check_policy(*policy));
  }
  for (const auto& [name, agent] : catalog.agents) {
    const auto policy = resolve(catalog.profiles.at(agent.profile), {}, &agent);
    REQUIRE(policy);
    CHECK(check_policy(*policy));
    CHECK(policy->profile == "STRICT");
  }
}
