#include "supervisor/verify/known_answers.hpp"

#include <nlohmann/json.hpp>

namespace paddock::supervisor {
namespace {

using kernel::Result;
using nlohmann::json;

tl::unexpected<kernel::Error> bad_answers(const std::string& why) {
  return kernel::fail(kernel::ErrorCode::internal, "the known answers: " + why);
}

Result<KnownAnswers::Question> parse_question(const json& array, std::size_t cases) {
  constexpr std::size_t parts = 3;
  if (!array.is_array() || array.size() != parts || !array[0].is_string() ||
      !array[1].is_string() || !(array[2].is_null() || array[2].is_number_unsigned()))
    return bad_answers("a question is [text, answer, case]");
  KnownAnswers::Question question{.text = array[0].get<std::string>(),
                                  .answer = array[1].get<std::string>(),
                                  .of = std::nullopt};
  if (question.text.size() > known_question_bytes_max) return bad_answers("a question is too long");
  if (!array[2].is_null()) {
    question.of = array[2].get<std::size_t>();
    if (*question.of >= cases) return bad_answers("a question for a case that there is not");
  }
  return question;
}

}  // namespace

std::size_t bytes_of(const KnownAnswers& known) {
  std::size_t bytes = sizeof known;
  for (const auto& each : known.questions)
    bytes += sizeof each + each.text.size() + each.answer.size();
  return bytes;
}

Result<KnownAnswersPtr> parse_known_answers(std::string_view text) {
  if (text.size() > known_answers_bytes_max) return bad_answers("too long");
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_null()) return nullptr;
  if (!object.is_object() || object.size() != 2 || !object.contains("cases") ||
      !object.contains("questions") || !object["cases"].is_number_unsigned() ||
      !object["questions"].is_array())
    return bad_answers("wants cases and questions");
  const json& questions = object["questions"];
  if (questions.empty() || questions.size() > known_questions_max)
    return bad_answers("too few or too many questions");
  KnownAnswers known;
  known.cases = object["cases"].get<std::size_t>();
  if (known.cases == 0 || known.cases > known_questions_max)
    return bad_answers("too few or too many cases");
  for (const json& each : questions)
    known.questions.push_back(TRY(parse_question(each, known.cases)));
  return std::make_shared<const KnownAnswers>(std::move(known));
}

}  // namespace paddock::supervisor
