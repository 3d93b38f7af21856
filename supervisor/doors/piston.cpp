#include "supervisor/doors/piston.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernel/base/signal_name.hpp"
#include "supervisor/doors/json_body.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/json/encoding.hpp"
#include "supervisor/runs/host_fault.hpp"

namespace paddock::supervisor::piston {
namespace {

using doors::Json;
using doors::OrderedJson;
using kernel::Cause;
using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr double compile_timeout_ms_default = 10'000;  // of the protocol
constexpr double run_timeout_ms_default = 3'000;
constexpr const char* unknown_version = "0.0.0";

Result<std::string> from_hex(const std::string& text) {
  std::string bytes;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) break;
    bytes += static_cast<char>(high * 16 + low);
  }
  if (bytes.size() * 2 != text.size())
    return fail(ErrorCode::invalid_request, "is not hexadecimal");
  return bytes;
}

Result<std::string> decoded(const std::string& content, const std::string& encoding) {
  if (encoding == "utf8") return content;
  if (encoding == "base64") return from_base64(content);
  if (encoding == "hex") return from_hex(content);
  return fail(ErrorCode::invalid_request, "its encoding is not base64, hex or utf8");
}

Result<void> read_files(const Json& object, CodeAsk& ask) {
  const auto files = object.find("files");
  if (files == object.end() || !files->is_array() || files->empty())
    return fail(ErrorCode::invalid_request, "files is required as an array of one or more");
  for (std::size_t i = 0; i < files->size(); ++i) {
    const Json& file = (*files)[i];
    const std::string place = fmt::format("files[{}]", i);
    if (!file.is_object() || !file.contains("content"))
      return fail(ErrorCode::invalid_request, place + " must be an object with 'content'");
    const std::string name = TRY(doors::text(file, "name", {}));
    const std::string encoding = TRY(doors::text(file, "encoding", "utf8"));
    auto content = decoded(TRY(doors::needed_text(file, "content")), encoding);
    if (!content)
      return fail(ErrorCode::invalid_request, place + ".content: " + content.error().message);
    if (!name.empty()) TRY_VOID(check_file_name(name));
    if (i == 0) {
      ask.code = std::move(*content);
    } else {
      ask.files.insert_or_assign(name.empty() ? fmt::format("file{}.code", i) : name,
                                 std::move(*content));
    }
  }
  return {};
}

Result<std::optional<std::chrono::milliseconds>> timeout(const Json& object, const char* key,
                                                         double absent) {
  constexpr double ms_per_s = 1000;
  const double ms = TRY(doors::number(object, key, absent));
  if (ms == -1) return std::optional<std::chrono::milliseconds>();  // none
  const auto time = milliseconds_of(ms / ms_per_s);
  if (!time)
    return fail(ErrorCode::invalid_request,
                fmt::format("{} must be above 0, or -1 for the most", key));
  return time;
}

Result<std::optional<std::uint64_t>> memory(const Json& object, const char* key) {
  constexpr double bytes_max = 1e15;
  const double bytes = TRY(doors::number(object, key, -1));
  if (bytes < 0) return std::optional<std::uint64_t>();
  if (bytes < 1 || bytes > bytes_max)
    return fail(ErrorCode::invalid_request,
                fmt::format("{} must be 1 or more, or -1 for none", key));
  return std::optional<std::uint64_t>(static_cast<std::uint64_t>(bytes));
}

// Piston's two letters, or nothing for a program that ended well.
const char* status_of(const StepResult& step) {
  const Cause cause = step.result.cause;
  if (is_host_fault(cause)) return "XX";
  if (cause == Cause::exited) return step.result.exit_code == 0 ? nullptr : "RE";
  if (cause == Cause::wall_clock || cause == Cause::cpu_limit) return "TO";
  return cause == Cause::output_limit ? "OL" : "SG";
}

OrderedJson step_object(const StepResult& step, const std::vector<std::string>& notes) {
  constexpr double ms_per_s = 1000;
  constexpr std::uint64_t us_per_ms = 1000;
  const kernel::SandboxResult& result = step.result;
  OrderedJson object = {{"signal", nullptr},
                        {"stdout", result.stdout},
                        {"stderr", result.stderr},
                        {"code", nullptr},
                        {"output", step.output},
                        {"memory", result.max_rss_bytes},
                        {"message", nullptr},
                        {"status", nullptr},
                        {"cpu_time", (result.cpu_user_us + result.cpu_system_us) / us_per_ms},
                        {"wall_time", static_cast<std::uint64_t>(result.duration_s * ms_per_s)}};
  if (const char* status = status_of(step)) object["status"] = status;
  if (result.cause == Cause::exited) {
    object["code"] = result.exit_code;
  } else {
    object["signal"] = kernel::signal_name(result.signal == 0 ? -result.exit_code : result.signal);
  }
  std::vector<std::string> remarks = remarks_on(result);
  for (std::string& remark : remarks_of(notes)) remarks.push_back(std::move(remark));
  if (!remarks.empty()) object["message"] = fmt::format("{}", fmt::join(remarks, "; "));
  return object;
}

}  // namespace

Result<Execute> parse(std::string_view body) {
  const Json object = TRY(doors::parse_body(body));
  Execute execute;
  CodeAsk& ask = execute.ask;
  ask.language = TRY(doors::needed_text(object, "language"));
  execute.version = TRY(doors::needed_text(object, "version"));
  TRY_VOID(read_files(object, ask));
  ask.stdin_bytes = TRY(doors::text(object, "stdin", {}));
  ask.arguments = TRY(doors::texts(object, "args"));
  ask.compile.wall_clock = TRY(timeout(object, "compile_timeout", compile_timeout_ms_default));
  ask.run.wall_clock = TRY(timeout(object, "run_timeout", run_timeout_ms_default));
  // Without one the profile's own counts.
  ask.compile.cpu = TRY(timeout(object, "compile_cpu_time", -1));
  ask.run.cpu = TRY(timeout(object, "run_cpu_time", -1));
  ask.compile.memory_bytes = TRY(memory(object, "compile_memory_limit"));
  ask.run.memory_bytes = TRY(memory(object, "run_memory_limit"));
  return execute;
}

std::string render(const CodeResult& result, const Runtime& runtime, const std::string& version,
                   const std::vector<std::string>& notes) {
  OrderedJson object = {{"language", runtime.name},
                        {"version", version.empty() ? unknown_version : version}};
  if (result.compile)
    object["compile"] =
        step_object(*result.compile, result.run ? std::vector<std::string>{} : notes);
  if (result.run) object["run"] = step_object(*result.run, notes);
  return dump_line(object);
}

std::string render_runtimes(const std::vector<std::pair<Runtime, std::string>>& with_versions) {
  OrderedJson list = OrderedJson::array();
  for (const auto& [runtime, version] : with_versions)
    list.push_back({{"language", runtime.name},
                    {"version", version.empty() ? unknown_version : version},
                    {"aliases", runtime.aliases}});
  return dump_line(list);
}

std::string render_error(const std::string& message) {
  return dump_line({{"message", message}});
}

}  // namespace paddock::supervisor::piston
