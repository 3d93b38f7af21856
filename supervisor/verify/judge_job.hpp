#pragma once
// What the judge's programs are told, on stdin: see judge_report.hpp and programs.hpp. Pure.

#include <string>
#include <string_view>

#include "supervisor/verify/item.hpp"
#include "supervisor/verify/known_dialogue.hpp"

namespace paddock::supervisor {

std::string judge_job(const JudgedTests& tests, Stop stop);
// Of a judge that goes on where the candidate has given another answer than the known one.
std::string judge_job(const JudgedTests& tests, Stop stop, const DialogueSoFar& so_far);
// Of a judge that finds the known answers: known_answers.hpp. It has no channel.
std::string known_answers_job(const JudgedTests& tests, Stop stop);
std::string in_process_job(std::string_view code, const JudgedTests& tests, Stop stop);

}  // namespace paddock::supervisor
