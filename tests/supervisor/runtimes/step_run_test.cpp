// Steps as they run, under each kind of profile.

#include <csignal>

#include "sandbox/sandbox_fixture.hpp"
#include "supervisor/runtimes/step.hpp"

using namespace paddock::kernel;
using namespace paddock::supervisor;
using namespace paddock::tests;

namespace {

struct Step {
  std::vector<std::string> command;
  Files files{};
  std::vector<std::string> wanted{};
  std::string stdin_bytes{};
};

struct Ran {
  SandboxResult result;
  Files files;
};

Ran ran(const SandboxPolicy& policy, const Step& step) {
  ResolvedRun resolved;
  resolved.policy = policy;
  const auto prepared = prepare_step(step.command, step.files, step.wanted, resolved);
  if (!prepared) FAIL(prepared.error().message);
  const auto channel = resolved.channel;
  Ran out{.result = run(resolved.policy, resolved.argv,
                        {.stdin_bytes = step.stdin_bytes,
                         .channel = channel->get(),
                         .program_file = resolved.program}),
          .files = {}};
  out.files = collect_files(*channel, step.wanted);
  return out;
}

Step script(const std::string& text, std::vector<std::string> wanted = {}) {
  return {.command = {"/bin/sh", "-c", text}, .wanted = std::move(wanted)};
}

std::string every_byte() {
  std::string bytes;
  for (int i = 0; i < 256 * 3; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// The program sees the same, whether files are to come out or not.
const std::vector<std::vector<std::string>> with_and_without_wanted = {{}, {"out"}};

}  // namespace

TEST_CASE("a trial tells which program cannot be executed, and lets none of them do anything") {
  for (const char* profile : profiles) {
    INFO(profile);
    const auto tried = [&](const std::vector<std::string>& programs, const Files& files = {}) {
      ResolvedRun trial;
      trial.policy = policy_of(profile);
      REQUIRE(prepare_trial(programs, files, trial));
      return run(trial.policy, trial.argv,
                 {.channel = trial.channel->get(), .program_file = trial.program});
    };
    const SandboxResult there = tried({"sh", "yes", "/bin/sh"});
    CHECK(there.cause == Cause::exited);
    CHECK(there.exit_code == 0);
    CHECK(there.stderr.empty());
    const SandboxResult missing = tried({"sh", "no-such-program", "sh"});
    CHECK(missing.exit_code == 127);
    CHECK(missing.stderr == "paddock-step: execute 'no-such-program': No such file or directory\n");
    CHECK(tried({"/etc/passwd"}).exit_code == 127);
    CHECK(tried({}, {{"sh", "exit 3"}, {"a/b", every_byte()}}).exit_code == 0);
    CHECK(tried({"sh"}, {{"sh", "exit 3"}}).exit_code == 0);
  }
}

TEST_CASE("a step's files are in its workspace, each byte of them") {
  for (const char* profile : profiles) {
    INFO(profile);
    const Ran step = ran(policy_of(profile),
                         {.command = {"cat", "pkg/deep/a", "empty"},
                          .files = {{"pkg/deep/a", every_byte()}, {"pkg/b", "b"}, {"empty", ""}}});
    CHECK(step.result.cause == Cause::exited);
    CHECK(step.result.exit_code == 0);
    CHECK(step.result.stdout == every_byte());
    CHECK(step.result.stderr.empty());
  }
}

TEST_CASE("a step has its standard streams to itself") {
  for (const auto& wanted : with_and_without_wanted) {
    Step step = script("cat; echo oops >&2; ls -A", wanted);
    step.stdin_bytes = "input\n";
    const Ran done = ran(policy_of("STRICT"), step);
    CHECK(done.result.stdout == "input\n");
    CHECK(done.result.stderr == "oops\n");
  }
}

TEST_CASE("a step ends as its program did") {
  struct Ending {
    const char* script;
    int exit_code;
    int signal;
  };
  const Ending endings[] = {{"exit 0", 0, 0},           {"exit 1", 1, 0},
                            {"exit 139", 139, 0},       {"exit 255", 255, 0},
                            {"kill -SEGV $$", -11, 11}, {"kill -KILL $$", -9, 9},
                            {"kill -TERM $$", -15, 15}, {"kill -ABRT $$", -6, 6}};
  for (const char* profile : profiles) {
    for (const auto& wanted : with_and_without_wanted) {
      for (const Ending& ending : endings) {
        INFO(profile << ": " << ending.script << ", wanted " << wanted.size());
        const Ran step = ran(policy_of(profile), script(ending.script, wanted));
        CHECK(step.result.exit_code == ending.exit_code);
        CHECK(step.result.signal == ending.signal);
        CHECK(step.result.stderr.empty());
      }
    }
  }
}

TEST_CASE("a program that is not there is told by name") {
  for (const auto& wanted : with_and_without_wanted) {
    const Ran step = ran(policy_of("STRICT"), {.command = {"no-such-thing"}, .wanted = wanted});
    CHECK(step.result.exit_code == 127);
    CHECK(step.result.stderr ==
          "paddock-step: execute 'no-such-thing': No such file or directory\n");
  }
}

TEST_CASE("files come out as they are") {
  for (const char* profile : profiles) {
    INFO(profile);
    Step step = script("cp in out; mkdir d; printf x > d/y; : > empty; exit 3",
                       {"out", "missing", "d/y", "empty"});
    step.files = {{"in", every_byte()}};
    const Ran done = ran(policy_of(profile), step);
    CHECK(done.result.exit_code == 3);
    CHECK(done.files == Files{{"out", every_byte()}, {"d/y", "x"}, {"empty", ""}});
  }
}

TEST_CASE("a file that came out can be executed where it goes in") {
  Step build = script("printf '#!/bin/sh\\necho built' > main; chmod 755 main", {"main"});
  const Ran built = ran(policy_of("STRICT"), build);
  REQUIRE(built.files.contains("main"));
  const Ran used = ran(policy_of("STRICT"), {.command = {"./main"}, .files = built.files});
  CHECK(used.result.stdout == "built\n");
}

TEST_CASE("what is no regular file of the workspace does not come out") {
  Step step = script(
      "ln -s /etc/passwd link; mkdir dir; ln -s /etc etc; mkfifo fifo; printf ok > ok; "
      "ln -s ok inner",
      {"link", "dir", "etc/passwd", "fifo", "inner", "ok"});
  for (const char* profile : profiles) {
    INFO(profile);
    CHECK(ran(policy_of(profile), step).files == Files{{"ok", "ok"}});
  }
}

TEST_CASE("a file that is too large to come out does not, and those after it do") {
  const Ran step =
      ran(policy_of("STRICT"),
          script("head -c 40M /dev/zero > large; printf x > small", {"large", "small"}));
  CHECK(step.result.exit_code == 0);
  CHECK(step.files == Files{{"small", "x"}});
}

TEST_CASE("files come out whatever the limit on file size is") {
  SandboxPolicy policy = policy_of("STRICT");
  policy.fsize_bytes = 1000;
  const Ran step =
      ran(policy, script("head -c 900 /dev/zero > a; cp a b; cp a c", {"a", "b", "c"}));
  CHECK(step.files.size() == 3);
}

TEST_CASE("a thousand files and a source of 200 KiB go in and come out") {
  Files files = {{"source", std::string(200 << 10, 's')}};
  std::vector<std::string> wanted = {"source"};
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "d" + std::to_string(i % 10) + "/f" + std::to_string(i);
    files[name] = "file " + std::to_string(i);
    wanted.push_back(name);
  }
  const Ran step =
      ran(policy_of("STRICT"), {.command = {"true"}, .files = files, .wanted = wanted});
  CHECK(step.files == files);
}

TEST_CASE("the program of a step does not have its channel") {
  for (const auto& wanted : with_and_without_wanted) {
    const Ran step = ran(policy_of("STRICT"), script("printf forged >&3 || echo none; "
                                                     "ls /proc/self/fd/3 /proc/self/fd/63",
                                                     wanted));

    CHECK(step.result.stdout == "none\n");
  }
}

TEST_CASE("a program that scribbles over its step's channel gets out no more than its files") {
  Step step = script(
      "printf x > out; exec 9<> /proc/$PPID/fd/3; "
      "head -c 50000 /dev/urandom >&9; exit 3",
      {"missing", "out", "absent"});
  step.files = {{"in", "contents"}};
  const Ran done = ran(policy_of("STRICT"), step);
  CHECK(done.result.stderr.empty());
  CHECK(done.result.exit_code == 3);
  CHECK(done.files == Files{{"out", "x"}});
}

TEST_CASE("a program that ends the rest of its step gains nothing by it") {
  const Ran step =
      ran(policy_of("STRICT"), script("printf x > out; kill -9 $PPID; exit 0", {"out"}));
  CHECK(step.result.signal == SIGKILL);
  CHECK(step.files.empty());
}

TEST_CASE("a step that is stopped at its deadline leaves what its program had") {
  SandboxPolicy policy = policy_of("STRICT");
  policy.wall_clock = std::chrono::milliseconds(500);
  const Ran step = ran(policy, script("printf x > out; exec sleep 100", {"out"}));
  CHECK(step.result.cause == Cause::wall_clock);
  CHECK(step.files == Files{{"out", "x"}});
}

TEST_CASE("one channel serves several runs at the same time") {
  ResolvedRun resolved;
  resolved.policy = policy_of("STRICT");
  REQUIRE(prepare_step({"cat", "a"}, {{"a", "contents"}}, {}, resolved));
  for (int i = 0; i < 2; ++i) {
    const SandboxResult result =
        run(resolved.policy, resolved.argv,
            {.channel = resolved.channel->get(), .program_file = resolved.program});
    CHECK(result.stdout == "contents");
  }
}

TEST_CASE("the cause of a run without files to come out is what it would be without a step") {
  SandboxPolicy policy = policy_of("STRICT");
  policy.cpu_seconds = 1;
  const Ran step = ran(policy, script("while :; do :; done"));
  CHECK(step.result.cause == Cause::cpu_limit);
}
