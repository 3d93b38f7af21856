// Goal: an operator's file is a runtime that can be run, or all that is wrong with it is said, with
// places in that file. Method: what is accepted obeys the rules, and printed as TOML it is read as
// the same runtime again.

#include <algorithm>

#include "fuzz/property.hpp"
#include "fuzz/toml_text.hpp"
#include "kernel/policy/names.hpp"
#include "kernel/policy/units.hpp"
#include "supervisor/runtimes/parse_runtime.hpp"
#include "supervisor/runtimes/step.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using fuzz::must_hold;
using fuzz::quoted;

namespace {

std::string printed(const Runtime& runtime) {
  std::string text = "name = " + quoted(runtime.name) + "\naliases = " + quoted(runtime.aliases) +
                     "\nsource = " + quoted(runtime.source) + "\n";
  if (!runtime.install.empty()) text += "install = " + quoted(runtime.install) + "\n";
  if (!runtime.profile.empty()) text += "profile = " + quoted(runtime.profile) + "\n";
  if (const auto& compile = runtime.compile) {
    text += "[compile]\ncommand = " + quoted(compile->command) +
            "\nartifact = " + quoted(compile->artifact) + "\n";
    if (compile->wall_clock)
      text += "wall_seconds = " + quoted(kernel::format_duration(*compile->wall_clock)) + "\n";
  }
  text += "[run]\ncommand = " + quoted(runtime.run) + "\n";
  if (!runtime.version.empty()) text += "[version]\ncommand = " + quoted(runtime.version) + "\n";
  if (const auto& warm = runtime.warm) {
    const ZygoteLimits& limits = warm->limits;
    text += "[warm]\ninterpreter = " + quoted(warm->program.interpreter) +
            "\nmodules = " + quoted(warm->program.modules) +
            "\nzygotes = " + std::to_string(limits.zygotes) +
            "\nidle = " + quoted(kernel::format_duration(limits.idle)) +
            "\nmemory = " + quoted(kernel::format_bytes(limits.memory_bytes)) +
            "\nruns = " + std::to_string(limits.runs) + "\n";
  }
  return text;
}

void check_diagnostics(std::string_view text, const std::vector<kernel::Diagnostic>& diagnostics) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const kernel::Diagnostic& diagnostic : diagnostics) {
    must_hold(diagnostic.file == "fuzz.toml", "a mistake names its file");
    must_hold(!diagnostic.message.empty(), "a mistake has a reason");
    must_hold(diagnostic.line <= lines, "a mistake is in the file", to_string(diagnostic));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  std::vector<kernel::Diagnostic> diagnostics;
  const auto runtime = parse_runtime(text, "fuzz.toml", diagnostics);
  check_diagnostics(text, diagnostics);
  must_hold(runtime.has_value() == diagnostics.empty(), "a runtime, or what is wrong with it");
  if (!runtime) return 0;
  must_hold(kernel::is_name(runtime->name), "a runtime has a name");
  must_hold(check_file_name(runtime->source).has_value(), "its source stays in the workspace");
  must_hold(!runtime->run.empty() && !runtime->run.front().empty(), "it runs something");
  if (runtime->compile) {
    must_hold(check_file_name(runtime->compile->artifact).has_value() &&
                  runtime->compile->artifact != runtime->source,
              "its artifact is another file of the workspace");
    must_hold(!runtime->compile->command.empty(), "it is compiled by something");
  }
  if (const auto& warm = runtime->warm) {
    must_hold(!warm->program.interpreter.empty(), "its zygotes are started by something");
    must_hold(warm->limits.zygotes <= warm_zygotes_max && warm->limits.runs >= 1,
              "its zygotes have limits");
  }
  const std::string toml = printed(*runtime);
  const auto again = parse_runtime(toml, "fuzz.toml", diagnostics);
  must_hold(again.has_value(), "a printed runtime is a runtime",
            diagnostics.empty() ? toml : to_string(diagnostics[0]) + "\n" + toml);
  must_hold(*again == *runtime, "a printed runtime is read as itself", toml);
  return 0;
}
