#include "supervisor/verify/judge_job.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "supervisor/json/dump.hpp"
#include "supervisor/json/encoding.hpp"

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

// `more`: members of the object, each behind a comma.
std::string job(const JudgedTests& tests, Stop stop, std::string_view more) {
  return fmt::format(R"({{"tests":{},"stop":"{}"{}}})", tests.job, name_of(stop), more);
}

std::string hex(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

}  // namespace

std::string judge_job(const JudgedTests& tests, Stop stop) {
  return job(tests, stop, "");
}

std::string judge_job(const JudgedTests& tests, Stop stop, const DialogueSoFar& so_far) {
  const auto& questions = so_far.known->questions;
  ordered_json answered = ordered_json::array();
  for (std::size_t i = 0; i < so_far.answered; ++i)
    answered.push_back({questions[i].text, questions[i].answer});
  ordered_json asked;
  if (so_far.token) asked = {*so_far.token, questions[so_far.answered].text};
  const ordered_json object = {{"greeted", so_far.is_greeted},
                               {"answered", std::move(answered)},
                               {"asked", std::move(asked)},
                               {"came_hex", hex(so_far.came)}};
  return job(tests, stop, R"(,"so_far":)" + dump(object));
}

std::string known_answers_job(const JudgedTests& tests, Stop stop) {
  return job(tests, stop, R"(,"known":true)");
}

std::string in_process_job(std::string_view code, const JudgedTests& tests, Stop stop) {
  return fmt::format(R"({{"code_b64":"{}","job":{}}})", to_base64(code), judge_job(tests, stop));
}

}  // namespace paddock::supervisor
