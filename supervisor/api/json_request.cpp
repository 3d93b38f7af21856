// JSON -> RunRequest. Every key is checked; an unknown one is an error with the nearest known name.

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "supervisor/api/json.hpp"
#include "supervisor/json/fields.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::json;

constexpr std::size_t nesting_max = 8;  // RFC 0002's deepest message has two levels

Result<std::string> name(const std::string& key, const json& value) {
  std::string word = TRY(json_text(key, value));
  if (word.empty()) return fail(ErrorCode::invalid_request, key + ": must not be empty");
  return word;
}

Result<std::string> run_id(const std::string& key, const json& value) {
  std::string id = TRY(json_text(key, value));
  if (!is_run_id(id)) return wrong_value(key, "the id of a run: \"r-\" and 16 hexadecimal digits");
  return id;
}

Result<std::map<std::string, std::string>> environment(const std::string& key, const json& value) {
  if (!value.is_object()) return wrong_value(key, "an object of strings");
  std::map<std::string, std::string> out;
  for (const auto& [name, content] : value.items()) {
    if (!content.is_string()) return wrong_value(key + "." + name, "a string");
    out[name] = content.get<std::string>();
  }
  return out;
}

Result<void> read_limits(kernel::Request& request, const json& value) {
  return read_json_object("limits", value,
                          {json_into("wall_seconds", request.wall_clock, json_duration),
                           json_into("cpu_seconds", request.cpu_seconds, json_count),
                           json_into("memory_bytes", request.memory_bytes, json_size),
                           json_into("fsize_bytes", request.fsize_bytes, json_size),
                           json_into("nproc", request.nproc, json_count),
                           json_into("nofile", request.nofile, json_count),
                           json_into("output_bytes", request.output_bytes, json_size),
                           json_into("output_stop_bytes", request.output_stop_bytes, json_size)});
}

struct TooDeep {};  // thrown by the callback: returning false would not stop the parser

// Objects keep the last of two equal keys; here that would be a setting lost in silence.
Result<json> parse_object(std::string_view body) {
  std::vector<std::set<std::string>> seen;
  std::string duplicate;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
      if (seen.size() == nesting_max) throw TooDeep();
      seen.emplace_back();
    } else if (event == json::parse_event_t::object_end ||
               event == json::parse_event_t::array_end) {
      seen.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!seen.back().insert(key).second) duplicate = key;
    }
    return true;
  };
  try {
    const json object = json::parse(body, watch);
    if (!duplicate.empty())
      return fail(ErrorCode::invalid_request,
                  fmt::format("the key '{}' is given twice", duplicate));
    if (!object.is_object())
      return fail(ErrorCode::invalid_request, "the body must be a JSON object");
    return object;
  } catch (const TooDeep&) {
    return fail(ErrorCode::invalid_request, "the body is nested too deeply");
  } catch (const json::parse_error& error) {
    return fail(ErrorCode::invalid_request,
                fmt::format("the body is not valid JSON: near byte {}", error.byte));
  } catch (const json::exception&) {
    return fail(ErrorCode::invalid_request, "the body is not valid JSON");
  }
}

Result<void> check_together(const json& object, const RunRequest& run) {
  if (object.contains("stdin") && object.contains("stdin_base64"))
    return fail(ErrorCode::invalid_request, "'stdin' and 'stdin_base64' exclude each other");
  if (run.detach && run.stream)
    return fail(ErrorCode::invalid_request, "'detach' and 'stream' exclude each other");
  if (run.stdin_open && !run.detach && !run.stream)
    return fail(ErrorCode::invalid_request, "'stdin_open' needs 'detach' or 'stream'");
  return {};
}

// Unlike other times it may be none at all: "now".
Result<std::chrono::milliseconds> deadline(const std::string& key, const json& value) {
  if (value.is_number() && value.get<double>() == 0) return std::chrono::milliseconds(0);
  return json_duration(key, value);
}

}  // namespace

Result<std::optional<std::chrono::milliseconds>> parse_drain_request(std::string_view body) {
  std::optional<std::chrono::milliseconds> time;
  if (body.empty()) return time;
  const json object = TRY(parse_object(body));
  TRY_VOID(read_json_object("", object, {json_into("deadline_seconds", time, deadline)}));
  return time;
}

Result<RunRequest> parse_run_request(std::string_view body) {
  const json object = TRY(parse_object(body));
  RunRequest run;
  kernel::Request& request = run.request;
  const JsonField limits{
      "limits", [&](const std::string&, const json& value) { return read_limits(request, value); }};
  TRY_VOID(read_json_object(
      "", object,
      {json_into("profile", request.profile, name), json_into("agent", request.agent, name),
       json_into("argv", request.argv, json_texts),
       json_into("stdin", request.stdin_bytes, json_text),
       json_into("stdin_base64", request.stdin_bytes, json_base64),
       json_into("stdin_open", run.stdin_open, json_flag),
       json_into("env", request.environment, environment), limits,
       json_into("bind_ro", request.bind_ro, json_texts),
       json_into("bind_rw", request.bind_rw, json_texts),
       json_into("network", request.network, json_flag),
       json_into("workdir", request.workdir, json_text), json_into("cwd", request.cwd, json_text),
       json_into("tenant", request.tenant, json_text), json_into("parent", run.parent, run_id),
       json_into("allow_degraded", request.allow_degraded, json_flag),
       json_into("detach", run.detach, json_flag), json_into("stream", run.stream, json_flag),
       json_into("warm", run.warm, json_flag)}));
  TRY_VOID(check_together(object, run));
  TRY_VOID(kernel::check_request(request));
  return run;
}

Result<GrantRequest> parse_grant_request(std::string_view body) {
  const json object = TRY(parse_object(body));
  GrantRequest grant;
  TRY_VOID(read_json_object("", object,
                            {json_required(json_into("dim", grant.dimension, json_text)),
                             json_required(json_into("amount", grant.amount, json_count))}));
  return grant;
}

Result<KeyRequest> parse_key_request(std::string_view body) {
  const json object = TRY(parse_object(body));
  KeyRequest request;
  TRY_VOID(read_json_object("", object,
                            {json_into("tenant", request.tenant, json_text),
                             json_into("rotate", request.rotate, json_flag)}));
  if (!object.contains("tenant"))
    return fail(ErrorCode::invalid_request, "the key 'tenant' is missing; \"\" is the operator's");
  return request;
}

}  // namespace paddock::supervisor
