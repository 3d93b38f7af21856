#include "supervisor/runtimes/code_run.hpp"

#include "supervisor/runs/table_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::tests;

namespace {

// A "language" whose compiler is the shell.
CodeJob job_of(const std::string& compiler, std::vector<std::string> command,
               const std::string& code = "echo hello") {
  CodeJob job;
  job.runtime.name = "x";
  job.runtime.source = "main.x";
  if (!compiler.empty())
    job.runtime.compile =
        CompileStep{.command = {"/bin/sh", "-c", compiler}, .artifact = "made", .wall_clock = {}};
  job.runtime.run = std::move(command);
  job.files = {{"main.x", code}};
  return job;
}

using Done = std::optional<kernel::Result<CodeResult>>;

CodeResult finished(TableFixture& fixture, CodeJob job) {
  Done done;
  const auto run =
      CodeRun::start(*fixture.table, std::move(job),
                     [&](kernel::Result<CodeResult> result) { done = std::move(result); });
  REQUIRE(run);
  CHECK_FALSE(done);
  fixture.run_until([&] { return done.has_value(); });
  INFO((*done ? "" : done->error().message));
  REQUIRE(*done);
  return std::move(**done);
}

}  // namespace

TEST_CASE("code without a compiler runs once") {
  TableFixture fixture;
  CodeJob job = job_of("", {"/bin/sh", "main.x"}, "echo $1; cat; echo err >&2; printf x > out");
  job.arguments = {"argument"};
  job.run.stdin_bytes = "input\n";
  job.wanted = {"out"};
  const CodeResult result = finished(fixture, std::move(job));
  CHECK_FALSE(result.compile);
  REQUIRE(result.run);
  CHECK(result.run->ok());
  CHECK(result.run->result.stdout == "argument\ninput\n");
  CHECK(result.run->result.stderr == "err\n");
  CHECK(result.run->output.size() == result.run->result.stdout.size() + 4);
  CHECK(result.files == Files{{"out", "x"}});
}

TEST_CASE("code is compiled, and what came out is run beside its files") {
  TableFixture fixture;
  CodeJob job = job_of("cp main.x made; echo compiling", {"./made"}, "#!/bin/sh\ncat data\n");
  job.files["data"] = "42";
  job.files["made"] = "an old one";
  const CodeResult result = finished(fixture, std::move(job));
  REQUIRE(result.compile);
  CHECK(result.compile->result.stdout == "compiling\n");
  REQUIRE(result.run);
  CHECK(result.run->result.stdout == "42");
  CHECK(fixture.table->find(result.run->id)->parent == result.compile->id);
}

TEST_CASE("code that does not compile is not run") {
  TableFixture fixture;
  const CodeResult result = finished(fixture, job_of("echo no >&2; exit 1", {"./made"}));
  REQUIRE(result.compile);
  CHECK(result.compile->result.stderr == "no\n");
  CHECK_FALSE(result.run);
}

TEST_CASE("a compiler that leaves nothing has failed, whatever it says") {
  TableFixture fixture;
  const CodeResult result = finished(fixture, job_of("exit 0", {"./made"}));
  REQUIRE(result.compile);
  CHECK_FALSE(result.compile->ok());
  CHECK(result.compile->result.stderr.find("left no 'made'") != std::string::npos);
  CHECK_FALSE(result.run);
}

TEST_CASE("a code run that is stopped says nothing any more") {
  TableFixture fixture;
  bool called = false;
  const auto run = CodeRun::start(*fixture.table, job_of("sleep 100", {"./made"}),
                                  [&](const kernel::Result<CodeResult>&) { called = true; });
  REQUIRE(run);
  fixture.run_until([&] { return fixture.table->alive() == 1; });
  (*run)->stop();
  fixture.run_until([&] { return fixture.table->alive() == 0; });
  fixture.run_for(std::chrono::milliseconds(50));
  CHECK_FALSE(called);
  CHECK(fixture.table->list().size() == 1);  // the other step was never asked for
}

TEST_CASE("a code run for which there is no room fails at once, or when it goes on") {
  TableFixture fixture({.alive_max = 1, .queued_max = 1});
  REQUIRE(fixture.submit("sleep 100"));
  REQUIRE(fixture.submit("sleep 100"));
  const auto refused = CodeRun::start(*fixture.table, job_of("", {"true"}),
                                      [](const kernel::Result<CodeResult>&) { FAIL("called"); });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == kernel::ErrorCode::too_busy);
}

TEST_CASE("files that do not fit are refused before anything runs") {
  TableFixture fixture;
  CodeJob job = job_of("true", {"./made"});
  job.files["../x"] = "";
  const auto refused = CodeRun::start(*fixture.table, std::move(job),
                                      [](const kernel::Result<CodeResult>&) { FAIL("called"); });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == kernel::ErrorCode::invalid_request);
  CHECK(fixture.table->list().empty());
}
