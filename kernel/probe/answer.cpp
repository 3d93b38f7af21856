#include "kernel/probe/answer.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "kernel/base/signal_name.hpp"

namespace paddock::kernel {
namespace {

std::string errno_name(int number) {
  const char* const name = ::strerrorname_np(number);
  return name != nullptr ? name : std::to_string(number);
}

// Takes a number off the front of `text`, and the blank after it.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return number;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// The answer of a line without its index; silent if it is none.
Answer parse_answer(std::string_view text) {
  if (text == "done") return {.kind = Answer::Kind::done};
  if (take_word(text, "cannot "))
    return {.kind = Answer::Kind::cannot, .number = 0, .why = std::string(text)};
  Answer answer;
  if (take_word(text, "refused ")) {
    answer.kind = Answer::Kind::refused;
  } else if (take_word(text, "killed ")) {
    answer.kind = Answer::Kind::killed;
  } else {
    return {};
  }
  const auto number = take_number(text);
  if (!number) return {};
  answer.number = *number;
  return answer;
}

}  // namespace

std::string to_string(const Answer& answer) {
  switch (answer.kind) {
    case Answer::Kind::silent:
      return "no answer";
    case Answer::Kind::done:
      return "done";
    case Answer::Kind::refused:
      return "refused " + errno_name(answer.number);
    case Answer::Kind::killed:
      return "killed by " + signal_name(answer.number);
    case Answer::Kind::cannot:
      return "cannot be tried: " + answer.why;
  }
  return {};
}

std::vector<Answer> parse_answers(std::string_view text, std::size_t count) {
  std::vector<Answer> answers(count);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto index = take_number(line);
    // The first counts: what an attempt prints after its answer is not to be believed.
    if (index && static_cast<std::size_t>(*index) < count &&
        answers[static_cast<std::size_t>(*index)].kind == Answer::Kind::silent)
      answers[static_cast<std::size_t>(*index)] = parse_answer(line);
  }
  return answers;
}

bool meets(const Answer& answer, const Expected& expected) {
  if (answer.kind != expected.kind) return false;
  return expected.numbers.empty() || std::find(expected.numbers.begin(), expected.numbers.end(),
                                               answer.number) != expected.numbers.end();
}

}  // namespace paddock::kernel
