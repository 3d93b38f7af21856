#pragma once
// The commands that run the programs of supervisor/verify/python/. Each holds one's whole text; in
// records and lists that stands by its name.

#include <memory>
#include <string>
#include <vector>

#include "supervisor/runs/recorded_argv.hpp"

namespace paddock::supervisor {

struct ProgramCommand {
  std::vector<std::string> argv;
  std::shared_ptr<const RecordedArgv> recorded;
};

const ProgramCommand& candidate_command();
const ProgramCommand& judge_command();
const ProgramCommand& in_process_command();

}  // namespace paddock::supervisor
