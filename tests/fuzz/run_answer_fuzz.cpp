// Goal: the CLI reads any answer without harm, and what it has read it can show. Method: a run that
// was read is printed as the daemon does, and must be read as the same again.

#include "fuzz/property.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/cli/run_json.hpp"
#include "supervisor/json/encoding.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using fuzz::must_hold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  if (const auto event = cli::event_from_json(text); event)
    must_hold(event->bytes.empty() || event->kind == cli::StreamEvent::Kind::stdout_bytes ||
                  event->kind == cli::StreamEvent::Kind::stderr_bytes,
              "only output has bytes");
  const auto run = cli::run_from_json(text);
  if (!run) {
    must_hold(run.error().code == kernel::ErrorCode::internal, "what is no run is refused");
    return 0;
  }
  const std::string printed = run_to_json(*run, WithOutput::yes);
  const auto again = cli::run_from_json(printed);
  must_hold(again.has_value(), "a printed run is a run", printed);
  must_hold(run_to_json(*again, WithOutput::yes) == printed, "a printed run is read as itself",
            printed);
  return 0;
}
