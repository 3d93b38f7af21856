#include <csignal>
#include <sstream>

#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

TEST_CASE("a program that spins ends at its CPU limit, as cpu_limit") {
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    policy.cpu_seconds = 1;
    const SandboxResult result = run(policy, {program("burn_cpu")});
    CHECK(result.cause == Cause::cpu_limit);
    CHECK(result.rlimit_hit == "cpu");
    CHECK(result.killed);
    CHECK_FALSE(result.timed_out);
    CHECK(result.signal == SIGKILL);
    CHECK(result.cpu_user_us + result.cpu_system_us > 900'000);
    CHECK(result.cpu_user_us + result.cpu_system_us < 2'000'000);
  }
}

TEST_CASE("CPU time that children used is not the agent's own, whoever kills it then") {
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.cpu_seconds = 1;
  const std::string burn = program("burn_cpu") + " 0.7; ";
  const SandboxResult result = run(policy, {"sh", "-c", burn + burn + "kill -KILL $$"});
  CHECK(result.cause == Cause::signaled);
  CHECK(result.signal == SIGKILL);
  CHECK(result.cpu_user_us + result.cpu_system_us > 1'300'000);  // they are in the run's usage
}

TEST_CASE("memory beyond memory_bytes is refused to the program") {
  // Method: the program stops by itself at 256 MiB, which it gets without a limit.
  CHECK(run(policy_of("OFF"), {program("eat_memory")}).stdout == "256\n");
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    policy.memory_bytes = 64u << 20;
    const SandboxResult result = run(policy, {program("eat_memory")});
    CHECK(result.cause == Cause::exited);  // what to do about it is the program's to decide
    const int got = std::stoi(result.stdout);
    CHECK(got < 64);
    CHECK(got > 48);
    CHECK(result.max_rss_bytes > std::uint64_t{48} << 20);
  }
}

TEST_CASE("a file that grows past fsize_bytes ends the run as file_size_limit") {
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    policy.fsize_bytes = 1u << 20;
    const SandboxResult result = run(policy, {program("fill_file"), "file"});
    CHECK(result.cause == Cause::file_size_limit);
    CHECK(result.rlimit_hit == "fsize");
    CHECK(result.signal == SIGXFSZ);
    CHECK(result.killed);
    // Who ignores the signal is refused by the kernel all the same, to the byte.
    CHECK(run(policy, {program("fill_file"), "file", "ignore-xfsz"}).stdout == "1048576 EFBIG\n");
  }
}

TEST_CASE("a program gets as many descriptors as nofile says") {
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    policy.nofile = 32;
    CHECK(run(policy, {program("open_files")}).stdout == "32 EMFILE\n");
  }
}

TEST_CASE("every limit is set, soft and hard alike, and can be read in the receipt") {
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    const SandboxPolicy policy = policy_of(profile);
    const SandboxResult result = run(policy, {program("show_state")});
    auto seen = values_in(result.stdout);
    const std::map<std::string, std::uint64_t> planned = {
        {"cpu_seconds", *policy.cpu_seconds}, {"memory_bytes", *policy.memory_bytes},
        {"fsize_bytes", *policy.fsize_bytes}, {"nproc", *policy.nproc},
        {"nofile", *policy.nofile},           {"core_size", policy.core_size}};
    REQUIRE(result.receipt);
    for (const auto& [name, value] : planned) {
      INFO(name);
      CHECK(seen[name] == std::to_string(value) + "/" + std::to_string(value));
      CHECK(result.receipt->rlimits.at(name) == std::to_string(value));
    }
  }
}

TEST_CASE("a program cannot raise its limits again") {
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    const SandboxResult result =
        run(policy_of(profile),
            {"sh", "-c", "ulimit -n 100000 || ulimit -v unlimited || echo refused"});
    CHECK(result.stdout == "refused\n");
  }
}

TEST_CASE("OFF sets no limit but that on core dumps") {
  const SandboxResult result = run(policy_of("OFF"), {"true"});
  CHECK(result.cause == Cause::exited);
  REQUIRE(result.receipt);
  CHECK(result.receipt->rlimits.at("cpu_seconds") == "unlimited");
  CHECK(result.receipt->rlimits.at("core_size") == "0");
  CHECK(result.receipt->new_namespaces.empty());
}
