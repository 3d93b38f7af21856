#include "supervisor/runs/run_transition.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernel/base/hash.hpp"
#include "supervisor/json/bytes.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/ledger/chain.hpp"
#include "supervisor/runs/run_json.hpp"

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

std::int64_t microseconds_or_0(const std::optional<SystemTime>& time) {
  return time ? to_microseconds(*time) : 0;
}

ordered_json mark_object(const kernel::ProcessMark& process) {
  return {{"pid", process.pid}, {"start_ticks", process.start_ticks}, {"boot_id", process.boot_id}};
}

RunRow row_of(const RunRecord& run, const std::string& state) {
  RunRow row;
  row.id = run.id;
  row.state = state;
  row.tenant = run.tenant;
  row.profile = run.profile;
  row.agent = run.agent;
  row.parent = run.parent;
  row.policy_hash = run.policy_hash;
  row.created_us = to_microseconds(run.created_at);
  row.started_us = microseconds_or_0(run.started_at);
  row.launcher = run.marks.launcher;
  row.agent_process = run.marks.agent;
  row.degraded = fmt::format("{}", fmt::join(run.degraded, ","));
  return row;
}

Transition transition(RunRow row, const ordered_json& body, SystemTime now) {
  Transition made;
  made.event = {.kind = "run." + row.state,
                .subject = row.id,
                .tenant = row.tenant,
                .body = dump(body),
                .at = now};
  made.run = std::move(row);
  return made;
}

// The last bytes, from the start of a character if it is text.
std::string_view tail_of(std::string_view bytes) {
  if (bytes.size() <= recorded_tail_bytes_max) return bytes;
  bytes.remove_prefix(bytes.size() - recorded_tail_bytes_max);
  constexpr std::size_t continuation_max = 3;
  std::size_t skipped = 0;
  while (skipped < continuation_max &&
         (static_cast<unsigned char>(bytes[skipped]) & 0xC0u) == 0x80u)
    ++skipped;
  return bytes.substr(skipped);
}

void add_stream(const std::string& name, std::string_view bytes, const std::string& sha256,
                ordered_json& body) {
  body[name + "_sha256"] = sha256;
  add_bytes(body, name + "_tail", tail_of(bytes));
}

}  // namespace

Transition admitted_transition(const RunRecord& run, const ResolvedRun& request, FirstState state,
                               SystemTime now) {
  const RecordedArgv argv = request.recorded ? *request.recorded : recorded_argv(run.argv);
  ordered_json body;
  body["argv"] = argv.words;
  body["argv_bytes"] = argv.bytes;
  body["argv_sha256"] = argv.sha256;
  body["stdin_bytes"] = request.stdin_bytes.size();
  body["stdin_sha256"] = kernel::sha256_hex(request.stdin_bytes);
  body["stdin_open"] = request.stdin_open;
  if (!request.cwd.empty()) body["cwd"] = request.cwd;
  if (state == FirstState::starting) body["attempt"] = 1;
  Transition made =
      transition(row_of(run, state == FirstState::queued ? "queued" : "starting"), body, now);
  made.policy = PolicyRow{.hash = run.policy_hash, .text = run.policy_text};
  return made;
}

Transition starting_transition(const RunRecord& run, SystemTime now) {
  return transition(row_of(run, "starting"), {{"attempt", 1}}, now);
}

Transition running_transition(const RunRecord& run, SystemTime now) {
  ordered_json body;
  if (run.marks.launcher) body["launcher"] = mark_object(*run.marks.launcher);
  if (run.marks.agent) body["agent"] = mark_object(*run.marks.agent);
  body["confinement"] = confinement_object(run);
  add_warmth(body, run);
  return transition(row_of(run, "running"), body, now);
}

Transition finished_transition(const RunRecord& run, const kernel::SandboxResult& result,
                               const OutputDigests& digests, SystemTime now) {
  constexpr double us_per_s = 1e6;
  RunRow row = row_of(run, "finished");
  row.ended_us = to_microseconds(now);
  row.cause = kernel::name_of(result.cause);
  row.exit_code = result.exit_code;
  row.cpu_us = result.cpu_user_us + result.cpu_system_us;
  row.wall_us = static_cast<std::uint64_t>(result.duration_s * us_per_s);
  row.max_rss_bytes = result.max_rss_bytes;
  row.written_bytes = result.written_bytes;
  ordered_json body = {{"result", result_object(result, WithOutput::no)}};
  add_stream("stdout", result.stdout, digests.of_stdout(), body);
  add_stream("stderr", result.stderr, digests.of_stderr(), body);
  add_warmth(body, run);
  // Its gate stayed closed, so no `run.running` has told what was seen.
  if (result.cause == kernel::Cause::cannot_isolate && run.receipt)
    body["confinement"] = confinement_object(run);
  return transition(std::move(row), body, now);
}

}  // namespace paddock::supervisor
