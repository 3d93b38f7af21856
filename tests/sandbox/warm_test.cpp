// Warm runs: forks of a zygote (rfcs/0013).

#include "kernel/run/run_sandboxed.hpp"
#include "sandbox/warm_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

// As Python's repr has it, of a text with lines and single quotes.
std::string quoted(const std::string& text) {
  std::string shown = "\"";
  for (const char c : text) shown += c == '\n' ? "\\n" : std::string(1, c);
  return shown + '"';
}

}  // namespace

TEST_CASE("a warm run executes its code under STRICT and has a receipt like any other") {
  WarmPython python(policy_of("STRICT"));
  const SandboxResult result = python.run("print(6 * 7)");
  INFO(result.detail << result.stderr);
  CHECK(result.cause == Cause::exited);
  CHECK(result.exit_code == 0);
  CHECK(result.stdout == "42\n");
  REQUIRE(result.receipt);
  const SandboxResult cold = python.run_cold("print(6 * 7)");
  CHECK(cold.stdout == "42\n");
  REQUIRE(cold.receipt);
  CHECK(result.receipt->rlimits == cold.receipt->rlimits);
  CHECK(result.receipt->new_namespaces == cold.receipt->new_namespaces);
  CHECK(result.receipt->capabilities == cold.receipt->capabilities);
  CHECK(result.receipt->bounding_set == cold.receipt->bounding_set);
  CHECK(result.receipt->filters == cold.receipt->filters + 1);  // that which watches sockets
  CHECK(result.receipt->landlock_seen == cold.receipt->landlock_seen);
  CHECK(result.receipt->self_seen == cold.receipt->self_seen);
}

TEST_CASE("a zygote serves one run after the other") {
  WarmPython python(policy_of("STRICT"));
  for (int i = 0; i < 20; ++i) {
    const SandboxResult result =
        python.run("import sys; print(sys.argv[1:])", {}, {std::to_string(i)});
    CHECK(result.stdout == "['" + std::to_string(i) + "']\n");
  }
}

TEST_CASE("a program that a zygote has prepared runs as the code of its argv, and so do others") {
  const std::string first = "import sys\nword = 'first'\nprint(word, sys.argv, sys.orig_argv[-3:])";
  const std::string second =
      "import sys\nsay = []\ndef prepare():\n    say.append('prepared')\nprint(say, sys.argv)";
  WarmPython python(policy_of("STRICT"), {}, {first, second});
  CHECK(python.run(second, {}, {"a", "b"}).stdout == "['prepared'] ['-c', 'a', 'b']\n");
  CHECK(python.run(first, {}, {first}).stdout == "first ['-c', " + quoted(first) + "] ['-c', " +
                                                     quoted(first) + ", " + quoted(first) + "]\n");
  CHECK(python.run("print('other')").stdout == "other\n");
}

TEST_CASE("what a module says when it is imported is in no run's output") {
  WarmPython python(policy_of("STRICT"), {"this"});
  for (int i = 0; i < 2; ++i) CHECK(python.run("print('mine')").stdout == "mine\n");
}

TEST_CASE("a run with less memory than four zygotes is no fork, and the reason is told") {
  WarmPython python(policy_of("STRICT"));
  CHECK(python.line().mapped_bytes > 4u << 20);
  python.policy().memory_bytes = 4 * python.line().mapped_bytes - 1;
  const auto refused = python.sandbox().start_warm(
      python.line(), python.policy(), {"python3", "-I", "-c", "pass"}, "refused-run", {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("times what its zygote has mapped") != std::string::npos);
  python.policy().memory_bytes = 4 * python.line().mapped_bytes;
  CHECK(python.run("print(1)").stdout == "1\n");
}

TEST_CASE("a run that cannot be set up under its own limits leaves its zygote as it was") {
  WarmPython python(policy_of("STRICT"));
  const auto limit = std::exchange(python.policy().nofile, 3);
  const SandboxResult refused = python.run("pass");
  CHECK(refused.cause == Cause::cannot_isolate);
  python.policy().nofile = limit;
  CHECK(python.run("print(1)").stdout == "1\n");
}

TEST_CASE("forks share a zygote's network namespace until one of them asks for a socket") {
  WarmPython python(policy_of("STRICT"));
  const std::string name = "import os; print(os.readlink('/proc/self/ns/net'))";
  const auto first = python.start(name);
  drive(*first);
  CHECK(first->left_network_alone());
  CHECK("net:[" + first->take_result().stdout.substr(5) ==
        python.line().namespaces.at("net") + "\n");
  const auto second = python.start("import socket; socket.socket(); print('made')");
  drive(*second);
  CHECK_FALSE(second->left_network_alone());
  CHECK(second->take_result().stdout == "made\n");
  const auto third = python.start("import socket; a, b = socket.socketpair(); print('made')");
  drive(*third);
  CHECK_FALSE(third->left_network_alone());
  CHECK(third->take_result().stdout == "made\n");
  python.line().network_is_used = true;
  const auto fourth = python.start(name);
  drive(*fourth);
  CHECK(fourth->take_result().stdout != python.line().namespaces.at("net") + "\n");
}
