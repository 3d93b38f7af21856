#include "supervisor/runtimes/warm_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace paddock::supervisor {
namespace {

std::shared_ptr<const WarmWish> cold(std::string why) {
  return std::make_shared<const WarmWish>(
      WarmWish{.runtime = "none", .program = {}, .cold_because = std::move(why)});
}

// The program of [warm], options that are a word each, and the file.
bool is_interpreter_with_file(const Runtime& runtime) {
  const auto& run = runtime.run;
  const auto is_option = [](const std::string& word) {
    return word.size() > 1 && word.front() == '-' && word != "-c";
  };
  return run.size() >= 2 && run.front() == runtime.warm->program.interpreter.front() &&
         run.back() == runtime.source && std::all_of(run.begin() + 1, run.end() - 1, is_option);
}

}  // namespace

std::shared_ptr<const WarmWish> warm_step_wish(const Runtime& runtime) {
  if (!runtime.warm) return cold(fmt::format("the runtime of {} has no [warm]", runtime.name));
  if (runtime.compile) return cold("what is compiled is no fork of an interpreter");
  if (!is_interpreter_with_file(runtime))
    return cold(
        fmt::format("the [run] command of {} is not the interpreter of its [warm] with options "
                    "and its source",
                    runtime.name));
  WarmWish wish = *runtime.warm;
  wish.program.interpreter.assign(runtime.run.begin(), runtime.run.end() - 1);
  wish.program.programs = {std::string(warm_step_program)};
  wish.argv = wish.program.interpreter;
  wish.argv.emplace_back("-c");
  wish.argv.emplace_back(warm_step_program);
  wish.argv.insert(wish.argv.end(), runtime.run.begin(), runtime.run.end());
  return std::make_shared<const WarmWish>(std::move(wish));
}

}  // namespace paddock::supervisor
