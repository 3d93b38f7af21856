#pragma once
// KnownAnswers: what tests ask whose outcome stands in their text, such as `assert f(1) == 2`, and
// the one answer to each question with which they pass (RFC 0010, Known answers). A judge without
// a candidate finds them. Plain data.
//
// They are enough to pass, and not needed for it: the judge takes 2.0 for 2. So an answer that is
// another one says nothing; a judge goes on from there.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

struct KnownAnswers {
  // As they go over the channel, without the token that both begin with.
  struct Question {
    std::string text;               // `,"f",[1],[]]`
    std::string answer;             // `,"value",2,[]]`
    std::optional<std::size_t> of;  // the case that it is asked for

    bool operator==(const Question&) const = default;
  };
  std::size_t cases = 0;
  std::vector<Question> questions;

  bool operator==(const KnownAnswers&) const = default;
};

using KnownAnswersPtr = std::shared_ptr<const KnownAnswers>;

constexpr std::size_t known_questions_max = 1000;
// So that the socket of a candidate that has read what it was asked takes a question whole.
constexpr std::size_t known_question_bytes_max = 32u << 10;
constexpr std::size_t known_answers_bytes_max = 1u << 20;  // of the judge's line

std::size_t bytes_of(const KnownAnswers& known);

// What known.py prints; nullptr: there are none. Fails with internal if it is neither.
kernel::Result<KnownAnswersPtr> parse_known_answers(std::string_view text);

}  // namespace paddock::supervisor
