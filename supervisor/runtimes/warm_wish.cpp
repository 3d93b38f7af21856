#include "supervisor/runtimes/warm_wish.hpp"

#include <algorithm>

namespace paddock::supervisor {
namespace {

// The interpreter, "-c" and the code.
bool begins_with(const std::vector<std::string>& argv,
                 const std::vector<std::string>& interpreter) {
  return argv.size() >= interpreter.size() + 2 &&
         std::equal(interpreter.begin(), interpreter.end(), argv.begin()) &&
         argv[interpreter.size()] == "-c";
}

}  // namespace

std::shared_ptr<const WarmWish> warm_wish_for(const Runtimes& runtimes,
                                              const std::vector<std::string>& argv) {
  for (const auto& [name, runtime] : runtimes)
    if (runtime.warm && begins_with(argv, runtime.warm->program.interpreter)) return runtime.warm;
  static const auto none = std::make_shared<const WarmWish>(
      WarmWish{.runtime = "none",
               .program = {},
               .cold_because = "the command is not the interpreter of a runtime's [warm] with -c"});
  return none;
}

}  // namespace paddock::supervisor
