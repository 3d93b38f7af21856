#pragma once
// What the judge's programs are told, on stdin: see judge_report.hpp and programs.hpp. Pure.

#include <string>
#include <string_view>

#include "supervisor/verify/item.hpp"

namespace paddock::supervisor {

std::string judge_job(const JudgedTests& tests, Stop stop);
std::string in_process_job(std::string_view code, const JudgedTests& tests, Stop stop);

}  // namespace paddock::supervisor
