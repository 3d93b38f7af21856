#include "supervisor/doors/sandbox_fusion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "supervisor/doors/json_body.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/json/encoding.hpp"
#include "supervisor/json/fields.hpp"

namespace paddock::supervisor::fusion {
namespace {

using doors::Json;
using doors::OrderedJson;
using kernel::Cause;
using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using std::chrono::milliseconds;

constexpr double timeout_seconds_default = 10;  // of the protocol, for each of the two

Result<milliseconds> timeout(const Json& object, const char* key) {
  const double seconds = TRY(doors::number(object, key, timeout_seconds_default));
  const auto time = milliseconds_of(seconds);
  if (!time) return fail(ErrorCode::invalid_request, fmt::format("{}: must be above 0", key));
  return *time;
}

// A negative number stands for no limit.
Result<std::optional<std::uint64_t>> memory(const Json& object) {
  constexpr double none = -1;
  constexpr double mib_max = 1e9;
  const double mib = TRY(doors::number(object, "memory_limit_MB", none));
  if (mib < 0) return std::optional<std::uint64_t>();
  if (mib < 1 || mib > mib_max)
    return fail(ErrorCode::invalid_request, "memory_limit_MB: must be 1 or more, or -1 for none");
  return std::optional<std::uint64_t>(static_cast<std::uint64_t>(mib * (1u << 20)));
}

Result<Files> files(const Json& object) {
  Files files;
  const auto at = object.find("files");
  if (at == object.end() || at->is_null()) return files;
  if (!at->is_object()) return wrong_value("files", "an object of base64 strings");
  for (const auto& [name, value] : at->items()) {
    if (value.is_null()) continue;  // the protocol has it, and means nothing by it
    TRY_VOID(check_file_name(name));
    files.insert_or_assign(name, TRY(json_base64("files." + name, value)));
  }
  return files;
}

OrderedJson step_object(const StepResult& step) {
  const kernel::SandboxResult& result = step.result;
  const bool too_long = result.cause == Cause::wall_clock || result.cause == Cause::cpu_limit;
  OrderedJson object = {{"status", too_long ? "TimeLimitExceeded" : "Finished"},
                        {"execution_time", result.duration_s},
                        {"return_code", nullptr},
                        {"stdout", result.stdout},
                        {"stderr", result.stderr}};
  if (!too_long) object["return_code"] = result.exit_code;
  return object;
}

// What a client could not tell from the rest.
std::string message_of(const CodeResult& result, const std::vector<std::string>& notes) {
  std::vector<std::string> remarks = remarks_of(notes);
  for (const auto* step : {&result.compile, &result.run}) {
    if (!*step) continue;
    for (std::string& remark : remarks_on((*step)->result)) remarks.push_back(std::move(remark));
  }
  return fmt::format("{}", fmt::join(remarks, "; "));
}

}  // namespace

Result<CodeAsk> parse(std::string_view body) {
  const Json object = TRY(doors::parse_body(body));
  CodeAsk ask;
  ask.code = TRY(doors::needed_text(object, "code"));
  ask.language = TRY(doors::needed_text(object, "language"));
  ask.stdin_bytes = TRY(doors::text(object, "stdin", {}));
  ask.compile.wall_clock = TRY(timeout(object, "compile_timeout"));
  ask.run.wall_clock = TRY(timeout(object, "run_timeout"));
  ask.run.memory_bytes = TRY(memory(object));
  ask.files = TRY(files(object));
  ask.wanted = TRY(doors::texts(object, "fetch_files"));
  for (const std::string& name : ask.wanted) TRY_VOID(check_file_name(name));
  // For pytest, says the protocol. There is none here, and nothing else is told of them.
  if (!TRY(doors::texts(object, "args")).empty())
    return fail(ErrorCode::invalid_request, "'args' are for a language that is not here");
  return ask;
}

milliseconds time_to_answer(const CodeAsk& ask, bool compiles) {
  const milliseconds none(0);
  return ask.run.wall_clock.value_or(none) +
         (compiles ? ask.compile.wall_clock.value_or(none) : none) + patience;
}

std::string render(const CodeResult& result, const std::vector<std::string>& notes) {
  const bool ok = (!result.compile || result.compile->ok()) && result.run && result.run->ok();
  OrderedJson object = {
      {"status", ok ? "Success" : "Failed"}, {"message", message_of(result, notes)},
      {"compile_result", nullptr},           {"run_result", nullptr},
      {"executor_pod_name", nullptr},        {"files", OrderedJson::object()}};
  if (result.compile) object["compile_result"] = step_object(*result.compile);
  if (result.run) object["run_result"] = step_object(*result.run);
  // Where the result can be looked up: GET /v1/runs/ID.
  if (const auto& last = result.run ? result.run : result.compile)
    object["executor_pod_name"] = last->id;
  for (const auto& [name, contents] : result.files) object["files"][name] = to_base64(contents);
  return dump_line(object);
}

}  // namespace paddock::supervisor::fusion
