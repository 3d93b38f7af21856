// Goal: a body that a door's client sends is a request whose files stay in the workspace and whose
// limits are times and sizes, or it is refused with a reason.

#include "fuzz/property.hpp"
#include "supervisor/doors/piston.hpp"
#include "supervisor/doors/sandbox_fusion.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using fuzz::must_hold;

namespace {

void check(const CodeAsk& ask) {
  for (const auto& [name, contents] : ask.files)
    must_hold(check_file_name(name).has_value(), "a file goes into the workspace", name);
  for (const std::string& name : ask.wanted)
    must_hold(check_file_name(name).has_value(), "a file comes out of the workspace", name);
  for (const CodeLimits* limits : {&ask.compile, &ask.run}) {
    must_hold(!limits->wall_clock || limits->wall_clock->count() > 0, "a timeout is a time");
    must_hold(!limits->memory_bytes || *limits->memory_bytes > 0, "a memory limit is a size");
  }
}

template <class T>
void check_error(const kernel::Result<T>& parsed) {
  must_hold(parsed.error().code == kernel::ErrorCode::invalid_request,
            "it is the client's mistake");
  must_hold(!parsed.error().message.empty(), "a mistake has a reason");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body = fuzz::as_text(data, size);
  if (const auto ask = fusion::parse(body)) {
    check(*ask);
    must_hold(fusion::time_to_answer(*ask, true) > fusion::patience, "an answer has its time");
  } else {
    check_error(ask);
  }
  if (const auto execute = piston::parse(body)) {
    check(execute->ask);
  } else {
    check_error(execute);
  }
  return 0;
}
