#include "supervisor/verify/judge_job.hpp"

#include <fmt/format.h>

#include "supervisor/json/encoding.hpp"

namespace paddock::supervisor {

std::string judge_job(const JudgedTests& tests, Stop stop) {
  return fmt::format(R"({{"tests":{},"stop":"{}"}})", tests.job, name_of(stop));
}

std::string in_process_job(std::string_view code, const JudgedTests& tests, Stop stop) {
  return fmt::format(R"({{"code_b64":"{}","job":{}}})", to_base64(code), judge_job(tests, stop));
}

}  // namespace paddock::supervisor
