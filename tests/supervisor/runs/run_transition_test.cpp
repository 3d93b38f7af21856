#include "supervisor/runs/run_transition.hpp"

#include <nlohmann/json.hpp>

#include "kernel/base/hash.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;

namespace {

const SystemTime now = SystemTime(std::chrono::microseconds(1'800'000'000'000'000));

RunRecord record() {
  RunRecord run;
  run.id = "r-0123456789abcdef";
  run.profile = "STRICT";
  run.agent = "python";
  run.tenant = "blue";
  run.parent = "r-fedcba9876543210";
  run.argv = {"python3", "-c", "print(1)"};
  run.created_at = SystemTime(std::chrono::microseconds(1'700'000'000'000'001));
  run.policy_text = kernel::canonical_text({});
  run.policy_hash = kernel::policy_hash({});
  return run;
}

RunRecord started_record() {
  RunRecord run = record();
  run.started_at = SystemTime(std::chrono::microseconds(1'700'000'000'500'000));
  run.marks.launcher = kernel::ProcessMark{.pid = 10, .start_ticks = 11, .boot_id = "boot"};
  run.marks.agent = kernel::ProcessMark{.pid = 12, .start_ticks = 13, .boot_id = "boot"};
  run.degraded = {"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)"};
  run.receipt = kernel::Receipt{};
  run.receipt->pid = 12;
  return run;
}

ResolvedRun request() {
  ResolvedRun request;
  request.argv = record().argv;
  request.stdin_bytes = "input";
  request.cwd = "/srv";
  return request;
}

OutputDigests digests_of(const kernel::SandboxResult& result) {
  OutputDigests digests(result.stdout.size() + result.stderr.size());
  digests.append(kernel::Stream::stdout_stream, result.stdout);
  digests.append(kernel::Stream::stderr_stream, result.stderr);
  return digests;
}

json body_of(const Transition& transition) {
  CHECK(transition.event.body.find('\n') == std::string::npos);
  return json::parse(transition.event.body);
}

}  // namespace

TEST_CASE("a run that waits is recorded with what was asked for, and its policy's text") {
  const Transition made = admitted_transition(record(), request(), FirstState::queued, now);
  CHECK(made.event.kind == "run.queued");
  CHECK(made.event.subject == "r-0123456789abcdef");
  CHECK(made.event.tenant == "blue");
  CHECK(made.event.at == now);
  REQUIRE(made.run);
  RunRow row;
  row.id = "r-0123456789abcdef";
  row.state = "queued";
  row.tenant = "blue";
  row.profile = "STRICT";
  row.agent = "python";
  row.parent = "r-fedcba9876543210";
  row.policy_hash = kernel::policy_hash({});
  row.created_us = 1'700'000'000'000'001;
  CHECK(*made.run == row);
  REQUIRE(made.policy);
  CHECK(made.policy->hash == row.policy_hash);
  CHECK(kernel::sha256_hex(made.policy->text) == row.policy_hash);
  const json body = body_of(made);
  CHECK(body["argv"] == json({"python3", "-c", "print(1)"}));
  CHECK(body["argv_bytes"] == 20);
  CHECK(body["argv_sha256"] == kernel::sha256_hex(std::string("python3\0-c\0print(1)\0", 20)));
  CHECK(body["stdin_bytes"] == 5);
  CHECK(body["stdin_sha256"] == kernel::sha256_hex("input"));
  CHECK(body["stdin_open"] == false);
  CHECK(body["cwd"] == "/srv");
  CHECK_FALSE(body.contains("attempt"));
}

TEST_CASE("a run that need not wait is recorded as starting, with the same and its attempt") {
  const Transition made = admitted_transition(record(), request(), FirstState::starting, now);
  CHECK(made.event.kind == "run.starting");
  CHECK(made.run->state == "starting");
  CHECK(made.policy);
  const json body = body_of(made);
  CHECK(body["argv"].size() == 3);
  CHECK(body["attempt"] == 1);

  const Transition later = starting_transition(record(), now);
  CHECK(later.event.kind == "run.starting");
  CHECK(later.run->state == "starting");
  CHECK_FALSE(later.policy);
  CHECK(body_of(later) == json({{"attempt", 1}}));
}

TEST_CASE("a program that comes with paddock is recorded by name, with a digest of all of argv") {
  const std::vector<std::string> argv = {"python3", "-c", std::string(10'000, 'x')};
  ResolvedRun named = request();
  named.recorded = std::make_shared<const RecordedArgv>(recorded_argv_naming("judge", argv));
  RunRecord run = record();
  run.argv = named.recorded->words;
  const json body = body_of(admitted_transition(run, named, FirstState::queued, now));
  CHECK(body["argv"] ==
        json({"python3", "-c", "<paddock judge, sha256:" + kernel::sha256_hex(argv[2]) + ">"}));
  CHECK(body["argv_bytes"] == 8 + 3 + 10'001);
  run.argv = argv;
  const json whole = body_of(admitted_transition(run, request(), FirstState::queued, now));
  CHECK(body["argv_sha256"] == whole["argv_sha256"]);
  CHECK(body["argv_bytes"] == whole["argv_bytes"]);
}

TEST_CASE("of a long argv the first bytes are kept, and a digest of all of it") {
  RunRecord run = record();
  run.argv = {"sh", "-c", std::string(10'000, 'x'), "last"};
  const json body = body_of(admitted_transition(run, request(), FirstState::queued, now));
  REQUIRE(body["argv"].size() == 3);
  CHECK(body["argv"][2].get<std::string>().size() == recorded_argv_bytes_max - 6);
  CHECK(body["argv_bytes"] == 3 + 3 + 10'001 + 5);
  run.argv.back() = "lost";
  CHECK(body["argv_sha256"] !=
        body_of(admitted_transition(run, request(), FirstState::queued, now))["argv_sha256"]);

  run.argv.assign(100'000, "");
  const Transition many = admitted_transition(run, request(), FirstState::queued, now);
  CHECK(body_of(many)["argv"].size() == recorded_argv_bytes_max);
  CHECK(many.event.body.size() < 16'000);
}

TEST_CASE("a word that is cut within a character, or is no text, is still valid JSON") {
  RunRecord run = record();
  run.argv = {"a", std::string("\xff\xfe"), std::string(recorded_argv_bytes_max - 6, 'x') + "€€"};
  const json body = body_of(admitted_transition(run, request(), FirstState::queued, now));
  CHECK(body["argv"].size() == 3);
}

TEST_CASE("a running run is recorded with its processes and what was seen of its confinement") {
  const Transition made = running_transition(started_record(), now);
  CHECK(made.event.kind == "run.running");
  CHECK(made.run->state == "running");
  CHECK(made.run->started_us == 1'700'000'000'500'000);
  CHECK(made.run->launcher == kernel::ProcessMark{.pid = 10, .start_ticks = 11, .boot_id = "boot"});
  CHECK(made.run->agent_process ==
        kernel::ProcessMark{.pid = 12, .start_ticks = 13, .boot_id = "boot"});
  CHECK(made.run->degraded == "NO-MEMORY-CEILING(cgroup),NO-PIDS-CEILING(cgroup)");
  const json body = body_of(made);
  CHECK(body["launcher"] == json({{"pid", 10}, {"start_ticks", 11}, {"boot_id", "boot"}}));
  CHECK(body["agent"]["pid"] == 12);
  CHECK(body["confinement"]["pid"] == 12);
  CHECK(body["confinement"]["degraded"].size() == 2);
}

TEST_CASE("a finished run is recorded with its cause, its usage, and the end of its output") {
  kernel::SandboxResult result;
  result.cause = kernel::Cause::wall_clock;
  result.exit_code = -15;
  result.signal = 15;
  result.duration_s = 1.5;
  result.cpu_user_us = 100;
  result.cpu_system_us = 20;
  result.max_rss_bytes = 4096;
  result.written_bytes = 8192;
  result.stdout = std::string(9000, 'a') + "end";
  result.stderr = "\xff";
  const Transition made = finished_transition(started_record(), result, digests_of(result), now);
  CHECK(made.event.kind == "run.finished");
  const RunRow& row = *made.run;
  CHECK(row.state == "finished");
  CHECK(row.ended_us == 1'800'000'000'000'000);
  CHECK(row.cause == "wall_clock");
  CHECK(row.exit_code == -15);
  CHECK(row.wall_us == 1'500'000);
  CHECK(row.cpu_us == 120);
  CHECK(row.max_rss_bytes == 4096);
  CHECK(row.written_bytes == 8192);
  CHECK(row.launcher.has_value());
  const json body = body_of(made);
  CHECK(body["result"]["cause"] == "wall_clock");
  CHECK(body["result"]["signal"] == 15);
  CHECK_FALSE(body["result"].contains("stdout"));
  CHECK(body["stdout_sha256"] == kernel::sha256_hex(result.stdout));
  CHECK(body["stdout_tail"] == result.stdout.substr(9003 - recorded_tail_bytes_max));
  CHECK(body["stderr_sha256"] == kernel::sha256_hex(result.stderr));
  CHECK(body["stderr_tail_base64"] == "/w==");
  CHECK_FALSE(body.contains("confinement"));
}

TEST_CASE("a tail begins with a whole character") {
  kernel::SandboxResult result;
  for (int i = 0; i < 3000; ++i) result.stdout += "€";
  const json body = body_of(finished_transition(started_record(), result, digests_of(result), now));
  const auto tail = body["stdout_tail"].get<std::string>();
  CHECK(tail.size() == 4095);
  CHECK(tail.starts_with("€"));
}

TEST_CASE("a run whose gate stayed closed is recorded with what was seen of it all the same") {
  kernel::SandboxResult result;
  result.cause = kernel::Cause::cannot_isolate;
  CHECK(body_of(finished_transition(started_record(), result, digests_of(result),
                                    now))["confinement"]["pid"] == 12);
  CHECK_FALSE(body_of(finished_transition(record(), result, digests_of(result), now))
                  .contains("confinement"));
}
