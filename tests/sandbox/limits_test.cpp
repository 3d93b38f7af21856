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

TEST_CASE("a run that writes more than output_stop_bytes is stopped, as output_limit") {
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    policy.output_bytes = 1000;
    policy.output_stop_bytes = 8u << 20;
    const SandboxResult flood = run(policy, {program("flood"), "1", "100000"});
    CHECK(flood.cause == Cause::output_limit);
    CHECK(flood.signal == SIGTERM);
    CHECK(flood.killed);
    CHECK_FALSE(flood.timed_out);
    CHECK_FALSE(flood.rlimit_hit);
    CHECK(flood.stdout_bytes > *policy.output_stop_bytes);
    CHECK(flood.stdout_bytes < 2 * *policy.output_stop_bytes);  // not long after
    CHECK(flood.stdout.size() == 1000);
    // Who ignores SIGTERM has its grace and no more.
    policy.grace = std::chrono::milliseconds(200);
    const SandboxResult stubborn =
        run(policy, {"sh", "-c", "trap '' TERM; exec " + program("flood") + " 2 10000000"});
    CHECK(stubborn.cause == Cause::output_limit);
    CHECK(stubborn.signal == SIGKILL);
    CHECK(stubborn.stderr_bytes > *policy.output_stop_bytes);
  }
}

TEST_CASE("output_stop_bytes counts both streams together, and the same output ends the same way") {
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.output_stop_bytes = 2u << 20;
  const std::string flood = program("flood");
  const std::string two_mib = flood + " 1 1; " + flood + " 2 1; ";
  CHECK(run(policy, {"sh", "-c", two_mib}).cause == Cause::exited);
  // The last bytes may be read before or after the program's end.
  for (int i = 0; i < 20; ++i)
    CHECK(run(policy, {"sh", "-c", two_mib + "printf x"}).cause == Cause::output_limit);
  policy.output_stop_bytes.reset();
  CHECK(run(policy, {flood, "1", "20"}).cause == Cause::exited);
}

TEST_CASE(
    "a program that dies of SIGSYS ends as syscall_denied, and a child that does is its own") {
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    const SandboxResult result = run(policy_of(profile), {"sh", "-c", "kill -SYS $$"});
    CHECK(result.cause == Cause::syscall_denied);
    CHECK(result.signal == SIGSYS);
    CHECK(result.killed);
    CHECK_FALSE(result.rlimit_hit);
    const SandboxResult parent =
        run(policy_of(profile), {"sh", "-c", "sh -c 'kill -SYS $$'; echo $?"});
    CHECK(parent.cause == Cause::exited);
    CHECK(parent.stdout == std::to_string(128 + SIGSYS) + "\n");
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
        {"nofile", *policy.nofile},           {"core_size", 1}};
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
  CHECK(result.receipt->rlimits.at("core_size") == "1");  // stops a core_pattern pipe, too
  CHECK(result.receipt->new_namespaces.empty());
}
