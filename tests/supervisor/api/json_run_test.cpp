#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "supervisor/api/json.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

// Every field set, to something else than its default where it has one.
RunRecord whole_record() {
  kernel::Receipt receipt;
  receipt.pid = 4711;
  receipt.host_uid = 60578;
  receipt.rlimits = {{"cpu_seconds", "120"}, {"nofile", "unlimited"}};
  receipt.new_namespaces = {"user", "pid"};
  receipt.no_new_privs = true;
  receipt.capabilities = "0000000000000000";
  receipt.host_gid = 60579;
  receipt.new_namespaces.emplace_back("mnt");
  receipt.filters = 1;
  receipt.landlock_abi = 7;
  receipt.landlock_seen = kernel::landlock_seen_file | kernel::landlock_seen_signal;
  receipt.mounts = {{"/", false, {}}, {"/proc", true, {}}, {"/tmp", true, 64u << 20}};
  receipt.descriptors = {0, 1, 2};
  receipt.cgroup = "/paddock/r-0123456789abcdef";
  receipt.cgroup_knobs = {{"pids.max", "64"}};

  kernel::SandboxResult result;
  result.exit_code = -9;
  result.stdout = "1\n\u20ac";
  result.stderr = "\xff\xfe";
  result.duration_s = 0.25;
  result.timed_out = true;
  result.rlimit_hit = "cpu";
  result.killed = true;
  result.cause = kernel::Cause::wall_clock;
  result.detail = "wall_seconds passed";
  result.signal = 9;
  result.exec_error = 2;
  result.stdout_truncated = true;
  result.stderr_truncated = true;
  result.stdout_bytes = 5000;
  result.stderr_bytes = 6000;
  result.output_held_open = true;
  result.setup_s = 0.125;
  result.cpu_user_us = 1000;
  result.cpu_system_us = 2000;
  result.max_rss_bytes = 4096;
  result.written_bytes = 8192;
  result.survivors_unproved = true;

  RunRecord run;
  run.id = "r-0123456789abcdef";
  run.phase = RunPhase::finished;
  run.profile = "STRICT";
  run.agent = "python";
  run.tenant = "team-a";
  run.argv = {"python3", "-c", "print(1)\n"};
  run.created_at = std::chrono::system_clock::time_point(std::chrono::milliseconds(1767225600042));
  run.queue_ms = 7;
  run.policy_hash = std::string(64, 'a');
  run.degraded = {"NO-MEMORY-CEILING(cgroup)"};
  run.receipt = receipt;
  run.result = result;
  return run;
}

std::string golden(const std::string& name) {
  std::ifstream file(std::string(PADDOCK_GOLDEN) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a finished run is told as the golden file has it") {
  const std::string line = run_to_json(whole_record(), WithOutput::yes);
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(ordered_json::parse(line).dump(2) + "\n" == golden("run.json"));
}

TEST_CASE("without output a run keeps the output's numbers") {
  const json result = json::parse(run_to_json(whole_record(), WithOutput::no))["result"];
  for (const char* key : {"stdout", "stdout_base64", "stderr", "stderr_base64"})
    CHECK_FALSE(result.contains(key));
  CHECK(result["stdout_bytes"] == 5000);
  CHECK(result["stderr_truncated"] == true);
}

TEST_CASE("a run has a confinement once it was observed, and a result once it is finished") {
  RunRecord run = whole_record();
  run.phase = RunPhase::running;
  run.result.reset();
  json object = json::parse(run_to_json(run, WithOutput::yes));
  CHECK(object["state"] == "running");
  CHECK(object.contains("confinement"));
  CHECK_FALSE(object.contains("result"));
  run.phase = RunPhase::queued;
  run.receipt.reset();
  run.agent.clear();
  object = json::parse(run_to_json(run, WithOutput::yes));
  CHECK(object["state"] == "queued");
  CHECK(object["agent"].is_null());
  CHECK_FALSE(object.contains("confinement"));
}

TEST_CASE("a name that is not UTF-8 is replaced, never an exception") {
  RunRecord run = whole_record();
  run.argv = {"\xff\xfe"};
  run.result->detail = "program '\xff'";
  const json object = json::parse(run_to_json(run, WithOutput::yes));
  CHECK(object["argv"][0] == "\ufffd\ufffd");
}

TEST_CASE("events are one line each, whatever the bytes are") {
  const RunRecord run = whole_record();
  const std::string lines[] = {started_event(run), output_event(run.id, "stdout", "a\nb\r\n"),
                               output_event(run.id, "stderr", "\xff\n"), finished_event(run)};
  for (const std::string& line : lines) {
    CHECK(line.find('\n') == line.size() - 1);
    CHECK(json::parse(line)["id"] == run.id);
  }
  CHECK(json::parse(lines[0])["event"] == "started");
  CHECK(json::parse(lines[0])["confinement"]["pid"] == 4711);
  CHECK(json::parse(lines[1]) == json({{"event", "stdout"}, {"id", run.id}, {"data", "a\nb\r\n"}}));
  CHECK(json::parse(lines[2]) == json({{"event", "stderr"}, {"id", run.id}, {"base64", "/wo="}}));
  const json finished = json::parse(lines[3]);
  CHECK(finished["event"] == "finished");
  CHECK(finished["run"] == json::parse(run_to_json(run, WithOutput::no)));
}

TEST_CASE("the list keeps its order and carries no output") {
  RunRecord one = whole_record();
  RunRecord two = whole_record();
  two.id = "r-ffffffffffffffff";
  const json runs = json::parse(runs_to_json({&two, &one}))["runs"];
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["id"] == two.id);
  CHECK_FALSE(runs[1]["result"].contains("stdout"));
  CHECK(json::parse(runs_to_json({})) == json({{"runs", json::array()}}));
}

namespace {

StoredRun stored_run() {
  StoredRun stored;
  stored.row.id = "r-00000000000000aa";
  stored.row.state = "finished";
  stored.row.profile = "STRICT";
  stored.row.policy_hash = "abc";
  stored.row.parent = "r-00000000000000bb";
  stored.row.created_us = 1'700'000'000'123'456;
  stored.row.started_us = stored.row.created_us + 5000;
  stored.row.cause = "exited";
  stored.row.exit_code = 3;
  stored.row.degraded = "ONE(a),TWO(b)";
  const auto event = [&](const std::string& kind, const std::string& body) {
    stored.events.push_back(
        {.seq = stored.events.size() + 1,
         .event = {.kind = kind, .subject = stored.row.id, .tenant = "", .body = body, .at = {}},
         .hash = ""});
  };
  event("run.starting", R"({"argv": ["make", "test"]})");
  event("run.running", R"({"confinement": {"pid": 7}})");
  event("run.finished", R"({"result": {"cause": "exited", "exit_code": 3}, "stdout_tail": "end"})");
  return stored;
}

}  // namespace

TEST_CASE("a run that only the ledger has looks as it did, with the end of its output") {
  const json run = json::parse(stored_run_to_json(stored_run()));
  CHECK(run["id"] == "r-00000000000000aa");
  CHECK(run["state"] == "finished");
  CHECK(run["argv"] == json({"make", "test"}));
  CHECK(run["agent"].is_null());
  CHECK(run["parent"] == "r-00000000000000bb");
  CHECK(run["created_at"] == "2023-11-14T22:13:20.123Z");
  CHECK(run["queue_ms"] == 5);
  CHECK(run["confinement"] == json({{"pid", 7}}));
  CHECK(run["result"] == json({{"cause", "exited"}, {"exit_code", 3}, {"stdout_tail", "end"}}));
}

TEST_CASE("of a run whose events are gone, or are not as they were, there is what its row says") {
  StoredRun stored = stored_run();
  const auto check = [&] {
    const json run = json::parse(stored_run_to_json(stored));
    CHECK(run["argv"] == json::array());
    CHECK(run["result"]["cause"] == "exited");
    CHECK(run["result"]["exit_code"] == 3);
    CHECK(run["confinement"]["degraded"] == json({"ONE(a)", "TWO(b)"}));
  };
  for (const char* body : {"", "[]", "{}", "{\"result\": 5}"}) {
    for (StoredEvent& event : stored.events) event.event.body = body;
    check();
  }
  stored.events.clear();
  check();
}

TEST_CASE("runs in memory and in the ledger are one list, newest first") {
  RunRecord older = whole_record();
  older.created_at = std::chrono::system_clock::time_point(std::chrono::seconds(1'600'000'000));
  RunRecord newer = whole_record();
  newer.created_at = std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000));
  newer.id = "r-ffffffffffffffff";
  const json runs = json::parse(runs_to_json({&newer, &older}, {stored_run()}))["runs"];
  REQUIRE(runs.size() == 3);
  CHECK(runs[0]["id"] == newer.id);
  CHECK(runs[1]["id"] == "r-00000000000000aa");
  CHECK_FALSE(runs[1]["result"].contains("stdout_tail"));
  CHECK(runs[2]["id"] == older.id);
}

TEST_CASE("an outcome that is not in the ledger says so, and only then") {
  RunRecord run = whole_record();
  CHECK_FALSE(json::parse(run_to_json(run, WithOutput::yes)).contains("recorded"));
  run.recorded = false;
  CHECK(json::parse(run_to_json(run, WithOutput::yes))["recorded"] == false);
}

TEST_CASE("an error has its code, its message, and the places of mistakes if there are any") {
  const kernel::Error error{kernel::ErrorCode::sandbox_policy_error, "2 mistakes"};
  CHECK(json::parse(error_to_json(error)) ==
        json({{"error", {{"code", "sandbox_policy_error"}, {"message", "2 mistakes"}}}}));
  const json with_places = json::parse(error_to_json(error, {{"a.toml", 3, 7, "unknown key 'x'"}}));
  CHECK(with_places["error"]["diagnostics"] ==
        json({{{"file", "a.toml"}, {"line", 3}, {"column", 7}, {"message", "unknown key 'x'"}}}));
}

TEST_CASE("a run that asked for it says whether it is warm, and no other does") {
  RunRecord run;
  CHECK_FALSE(json::parse(run_to_json(run, WithOutput::no)).contains("warm"));
  run.warm = true;
  CHECK(json::parse(run_to_json(run, WithOutput::no))["warm"] == true);
  CHECK_FALSE(json::parse(run_to_json(run, WithOutput::no)).contains("cold_because"));
  run.warm = false;
  run.cold_because = "no zygote is ready";
  CHECK(json::parse(run_to_json(run, WithOutput::no))["cold_because"] == "no zygote is ready");
  CHECK(json::parse(explanation_to_json(run, {}))["cold_because"] == "no zygote is ready");
}

TEST_CASE("readiness tells of zygotes, and of the last that was of no use") {
  const Readiness readiness{.ready = true, .reason = "", .profile = "STRICT"};
  WarmNow warm{.zygotes = {}, .ready = 2, .busy = 1, .starting = 0, .last_failure = ""};
  CHECK(json::parse(readiness_to_json(readiness, warm))["warm"] ==
        json({{"ready", 2}, {"busy", 1}, {"starting", 0}}));
  warm.last_failure = "python: it died";
  CHECK(json::parse(readiness_to_json(readiness, warm))["warm"]["last_failure"] ==
        "python: it died");
}
