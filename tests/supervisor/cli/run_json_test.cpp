// The daemon's JSON, read back as what it was made from.

#include "supervisor/cli/run_json.hpp"

#include "sample_run.hpp"
#include "supervisor/api/json.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace paddock::supervisor::cli;
using paddock::kernel::Cause;

namespace {

// The clock's time is for people who read the JSON; it is not read back.
RunRecord without_time(RunRecord run) {
  run.created_at = {};
  return run;
}

}  // namespace

TEST_CASE("a run survives the way through JSON") {
  RunRecord run = sample_run();
  run.agent = "python";
  run.tenant = "team";
  run.result->cause = Cause::file_size_limit;
  run.result->rlimit_hit = "fsize";
  run.result->stdout = "text\n";
  run.result->stderr = std::string("\xff\x00\x01", 3);
  const auto read = run_from_json(run_to_json(run, WithOutput::yes));
  if (!read) FAIL(read.error().message);
  CHECK(without_time(*read) == without_time(run));
}

TEST_CASE("every cause survives the way through JSON") {
  for (const Cause cause : paddock::kernel::all_causes) {
    RunRecord run = sample_run();
    run.result->cause = cause;
    CHECK(run_from_json(run_to_json(run, WithOutput::no))->result->cause == cause);
  }
}

TEST_CASE("a queued run has neither result nor receipt") {
  RunRecord run;
  run.id = "r-0123456789abcdef";
  run.argv = {"true"};
  const auto read = run_from_json(run_to_json(run, WithOutput::no));
  REQUIRE(read);
  CHECK(read->phase == RunPhase::queued);
  CHECK_FALSE(read->result);
  CHECK_FALSE(read->receipt);
}

TEST_CASE("the events of a stream are told apart") {
  using Kind = StreamEvent::Kind;
  const RunRecord run = sample_run();
  CHECK(event_from_json(started_event(run))->kind == Kind::started);
  CHECK(event_from_json(started_event(run))->id == run.id);
  const auto text = event_from_json(output_event(run.id, "stdout", "a\nb"));
  CHECK(text->kind == Kind::stdout_bytes);
  CHECK(text->bytes == "a\nb");
  const auto bytes = event_from_json(output_event(run.id, "stderr", "\xff"));
  CHECK(bytes->kind == Kind::stderr_bytes);
  CHECK(bytes->bytes == "\xff");
  const auto finished = event_from_json(finished_event(run));
  CHECK(finished->kind == Kind::finished);
  CHECK(finished->run.result == run.result);
}

TEST_CASE("an answer that is something else is an error, not a crash") {
  for (const char* text :
       {"", "{", "[]", "null", "{\"id\": 1}", "{\"id\": \"r-1\"}",
        "{\"id\": \"r-1\", \"state\": \"finished\", \"result\": {\"cause\": 1}}",
        "{\"id\": \"r-1\", \"state\": \"finished\", \"result\": {\"stdout_bytes\": 5e95}}",
        "{\"id\": \"r-1\", \"state\": \"finished\", \"result\": {\"stdout_bytes\": -1.5}}",
        "{\"id\": \"r-1\", \"state\": \"finished\", \"result\": {\"exit_code\": 3e9}}"})
    CHECK_FALSE(run_from_json(text));
  for (const char* text : {"", "{", "{\"event\": \"stdout\"}", "{\"event\": 1, \"id\": \"r\"}",
                           "{\"event\": \"stdout\", \"id\": \"r\"}",
                           "{\"event\": \"stdout\", \"id\": \"r\", \"base64\": \"?\"}"})
    CHECK_FALSE(event_from_json(text));
}
