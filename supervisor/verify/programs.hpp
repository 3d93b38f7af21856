#pragma once
// The Python programs of supervisor/verify/python/, as they stand there. The build puts them in.

#include <string_view>

namespace paddock::supervisor {

// Its stdin is the code, as bytes; fd 3 the channel to the judge.
extern const std::string_view candidate_program;
// Its stdin is a job, its stdout one report, fd 3 the channel to the candidate: judge_report.hpp.
extern const std::string_view judge_program;
// Code and tests in one interpreter. Its stdin is {"code_b64": "...", "job": {...}}, its report
// goes to fd 3.
extern const std::string_view in_process_program;

}  // namespace paddock::supervisor
