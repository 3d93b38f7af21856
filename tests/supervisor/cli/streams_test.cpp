// stdin, stdout and stderr pass through, whatever is at their other ends.

#include <unistd.h>

#include <csignal>
#include <thread>

#include "cli_process.hpp"
#include "support/catch.hpp"

TEST_CASE("bytes pass through unchanged, both ways at once") {
  std::string bytes;
  for (std::size_t i = 0; i < 3u << 20; ++i) bytes += static_cast<char>(i * 2654435761u >> 13);
  const CliEnded ended = run_cli({"run", "--profile", "OFF", "--", "cat"}, {.input = bytes});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == bytes);
  CHECK(ended.err.empty());
}

TEST_CASE("stdin reaches a program under STRICT, and its end too") {
  if (!sandbox_works()) return;
  const CliEnded ended = run_cli({"run", "--profile", "STRICT", "-c",
                                  "import sys; print(len(sys.stdin.read())); print(6 * 7)"},
                                 {.input = "hello"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == "5\n42\n");
}

TEST_CASE("a program that does not read its input is no problem") {
  const CliEnded ended = run_cli({"run", "--profile", "OFF", "--", "echo", "done"},
                                 {.input = std::string(8u << 20, 'x')});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == "done\n");
}

TEST_CASE("output comes while the program runs") {
  CliProcess process(
      {"--embedded", "run", "--profile", "OFF", "--", "sh", "-c", "echo first; exec sleep 30"});
  process.wait_for_output("first\n");
  process.signal(SIGINT);
  CHECK(process.wait().exit_code == 2);
}

TEST_CASE("stdout and stderr stay apart") {
  const CliEnded ended =
      run_cli({"run", "--profile", "OFF", "--", "sh", "-c", "echo out; echo err >&2"});
  CHECK(ended.out == "out\n");
  CHECK(ended.err == "err\n");
}

TEST_CASE("output passes through whole, also above the output_bytes that a profile keeps") {
  const CliEnded ended =
      run_cli({"run", "--profile", "OFF", "--", "head", "-c", "30000000", "/dev/zero"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.size() == 30000000);
  CHECK(ended.err.empty());
}

// Goal: who reads slowly cannot keep a run from its deadline.
// Method: nobody reads for longer than the deadline.
TEST_CASE("a reader that is slow does not hold up the deadline") {
  CliProcess process({"--embedded", "run", "--profile", "OFF", "--wall", "0.5", "--", "yes"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const CliEnded ended = process.wait();
  CHECK(ended.exit_code == 2);
  INFO(ended.err);
  CHECK(ended.err.find("paddock: killed after 0.5") != std::string::npos);
}

TEST_CASE("a reader that goes away stops the run") {
  CliProcess process({"--embedded", "run", "--profile", "OFF", "--", "yes"});
  process.wait_for_output("y\n");
  process.close_output();
  const CliEnded ended = process.wait();
  CHECK(ended.exit_code == 2);
  CHECK(ended.err == "paddock: nobody reads stdout any more; the run was stopped\n");
}

TEST_CASE("output that cannot be written is an error") {
  const CliEnded ended =
      run_cli({"run", "--profile", "OFF", "--", "echo", "x"}, {.stdout_path = "/dev/full"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.find("write to stdout: No space left on device") != std::string::npos);
  CHECK(run_cli({"profile", "list"}, {.stdout_path = "/dev/full"}).exit_code == 1);
}

TEST_CASE("closed standard descriptors are no problem") {
  CHECK(run_cli({"run", "--profile", "OFF", "--", "cat"}, {.closed = {0}}).exit_code == 0);
  CHECK(run_cli({"run", "--profile", "OFF", "--", "true"}, {.closed = {0, 1, 2}}).exit_code == 0);
  CHECK(run_cli({"run"}, {.closed = {2}}).exit_code == 1);
}
