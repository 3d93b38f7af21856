// Goal: a body is a request within its bounds, or is refused with a reason that can be sent.
// Method: what is accepted is printed as the CLI prints it and must be read as the same request
// again; a refusal's JSON must be readable, and not larger than what it answers by more than a bit.

#include <nlohmann/json.hpp>

#include "fuzz/property.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/cli/request.hpp"
#include "supervisor/json/encoding.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using fuzz::must_hold;

namespace {

constexpr std::size_t refusal_bytes_max = 8192;

void check_refusal(const kernel::Error& error) {
  must_hold(error.code == kernel::ErrorCode::invalid_request, "a refused body is invalid_request");
  const auto json = nlohmann::json::parse(error_to_json(error), nullptr, false);
  must_hold(json.is_object() && json["error"]["message"].is_string(), "a refusal is valid JSON");
  must_hold(!error.message.empty() && error.message.size() <= refusal_bytes_max,
            "a refusal has a reason of bounded length");
}

void check_bounds(const RunRequest& run) {
  const kernel::Request& request = run.request;
  must_hold(!request.argv.empty() || !request.agent.empty(), "there is something to run");
  must_hold(request.argv.size() <= kernel::argv_entries_max, "argv is bounded");
  must_hold(request.stdin_bytes.size() <= kernel::stdin_bytes_max, "stdin is bounded");
  for (const std::string& word : request.argv)
    must_hold(word.find('\0') == std::string::npos, "no word has a NUL");
  for (const auto& limit :
       {request.cpu_seconds, request.memory_bytes, request.fsize_bytes, request.nproc,
        request.nofile, request.output_bytes, request.output_stop_bytes})
    must_hold(!limit || *limit >= 1, "a limit is at least 1");
  must_hold(!request.wall_clock || request.wall_clock->count() >= 1, "a time is at least 1 ms");
  must_hold(!(run.detach && run.stream), "a run is detached or streamed");
  must_hold(!run.stdin_open || run.detach || run.stream, "open input has a way in");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto run = parse_run_request(fuzz::as_text(data, size));
  if (!run) {
    check_refusal(run.error());
    return 0;
  }
  check_bounds(*run);
  const auto text = cli::request_to_json(*run);
  if (!text) {  // only bytes from base64 can be no text
    must_hold(!is_utf8(run->request.stdin_bytes), "what came as JSON can be JSON again");
    return 0;
  }
  const auto again = parse_run_request(*text);
  must_hold(again && *again == *run, "a printed request is read as itself", *text);
  return 0;
}
