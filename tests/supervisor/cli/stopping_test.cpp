// Ctrl-C and its kin, and that nothing of a run stays behind.

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace {

std::string marker() {
  static int count = 0;
  return "paddock-marker-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

// A profile whose grace is longer than any test waits.
const char* const patient_profile = R"(
name = "PATIENT"
[limits]
grace_seconds = 300
[isolation]
use_bubblewrap = false
deny_network = false
)";

}  // namespace

TEST_CASE("a signal gives the program its grace, and the exit code is 2") {
  const int number = GENERATE(SIGINT, SIGTERM, SIGHUP);
  CliProcess process({"--embedded", "run", "--profile", "OFF", "--", "sh", "-c",
                      "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done"});
  process.wait_for_output("ready\n");
  process.signal(number);
  const CliEnded ended = process.wait();
  CHECK(ended.exit_code == 2);
  CHECK(ended.out == "ready\nbye\n");
  CHECK(ended.err.find("it was asked for") != std::string::npos);
}

TEST_CASE("a signal works under STRICT, too") {
  if (!sandbox_works()) return;
  CliProcess process({"--embedded", "run", "--profile", "STRICT", "--", "sh", "-c",
                      "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done"});
  process.wait_for_output("ready\n");
  process.signal(SIGINT);
  const CliEnded ended = process.wait();
  CHECK(ended.exit_code == 2);
  CHECK(ended.out == "ready\nbye\n");
}

TEST_CASE("a second signal waits for no grace") {
  const CliDirectory directory;
  directory.write("patient.toml", patient_profile);
  const std::string mark = marker();
  CliProcess process({"--embedded", "--profiles", directory.path(), "run", "--profile", "PATIENT",
                      "--", "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.02; done",
                      mark});
  process.wait_for_output("ready\n");
  process.signal(SIGINT);
  ::usleep(100'000);
  process.signal(SIGINT);
  CHECK(process.wait().exit_code == 2);
  CHECK(processes_with(mark) == 0);
}

TEST_CASE("what a program leaves behind does not outlive the run") {
  const std::string mark = marker();
  const std::string script = "setsid sh -c 'sleep 300; :' " + mark + " & echo started";
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    if (profile == std::string("STRICT") && !sandbox_works()) continue;
    const CliEnded ended = run_cli({"run", "--profile", profile, "--", "sh", "-c", script});
    INFO(profile << ": " << ended.err);
    CHECK(ended.exit_code == 0);
    CHECK(ended.out == "started\n");
    CHECK(processes_with(mark) == 0);
  }
}

TEST_CASE("a run does not outlive a paddock that is killed") {
  const std::string mark = marker();
  const CliDirectory directory;  // for the workspace that nobody is left to remove
  REQUIRE(::chmod(directory.path().c_str(), 0777) == 0);
  CliProcess process(
      {"--embedded", "run", "--profile", "OFF", "--", "sh", "-c", "echo ready; sleep 300; :", mark},
      {.environment = {{"TMPDIR", directory.path()}}});
  process.wait_for_output("ready\n");
  CHECK(processes_with(mark) > 0);
  process.signal(SIGKILL);
  CHECK(process.wait().exit_code == 128 + SIGKILL);
  for (int i = 0; i < 500 && processes_with(mark) > 0; ++i) ::usleep(10'000);
  CHECK(processes_with(mark) == 0);
}
