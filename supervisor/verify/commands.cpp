#include "supervisor/verify/commands.hpp"

#include <string_view>
#include <utility>

#include "supervisor/verify/programs.hpp"

namespace paddock::supervisor {
namespace {

ProgramCommand command(const char* name, std::vector<std::string> argv, std::string_view program) {
  argv.emplace_back("-c");
  argv.emplace_back(program);
  auto recorded = std::make_shared<const RecordedArgv>(recorded_argv_naming(name, argv));
  return {.argv = std::move(argv), .recorded = std::move(recorded)};
}

}  // namespace

const ProgramCommand& candidate_command() {
  static const ProgramCommand made = command("candidate", {"python3", "-I"}, candidate_program);
  return made;
}

const ProgramCommand& judge_command() {
  static const ProgramCommand made = command("judge", {"python3", "-I", "-S", "-B"}, judge_program);
  return made;
}

const ProgramCommand& in_process_command() {
  static const ProgramCommand made = command("in_process", {"python3", "-I"}, in_process_program);
  return made;
}

}  // namespace paddock::supervisor
