#include "supervisor/verify/verify_wishes.hpp"

#include "supervisor/runtimes/warm_step.hpp"
#include "supervisor/verify/programs.hpp"

namespace paddock::supervisor {
namespace {

std::shared_ptr<const WarmWish> with_program(WarmWish wish, std::string_view program) {
  wish.program.programs = {std::string(program)};
  return std::make_shared<const WarmWish>(std::move(wish));
}

// Its own imports, and what tests have at hand most often.
std::vector<std::string> judge_modules() {
  return {"_ast",      "_json", "_symtable", "_thread",     "binascii", "builtins",
          "os",        "sys",   "time",      "collections", "copy",     "functools",
          "itertools", "math",  "random",    "re",          "typing"};
}

}  // namespace

VerifyWishes verify_wishes(const Runtimes& runtimes) {
  VerifyWishes wishes;
  for (const auto& [name, runtime] : runtimes) wishes.stdio[name] = warm_step_wish(runtime);
  const Runtime* const python = find_runtime(runtimes, "python");
  if (python == nullptr || !python->warm) return wishes;
  // The judge is paddock's own, whatever the runtime says; its zygotes have the same limits.
  const WarmWish judge{.runtime = "judge",
                       .program = {.interpreter = {"python3", "-I", "-S", "-B"},
                                   .modules = judge_modules(),
                                   .programs = {}},
                       .limits = python->warm->limits};
  wishes.candidate = with_program(*python->warm, candidate_program);
  wishes.judge = with_program(judge, judge_program);
  wishes.in_process = with_program(*python->warm, in_process_program);
  return wishes;
}

}  // namespace paddock::supervisor
