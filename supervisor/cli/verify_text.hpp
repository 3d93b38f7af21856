#pragma once
// What `paddock verify` prints: a line for each answer, a summary, a bar. Pure.

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/base/error.hpp"
#include "supervisor/cli/item_lines.hpp"

namespace paddock::supervisor::cli {

// As much of an answer as the command looks at.
struct AnswerLine {
  std::string id;
  std::string verdict;
  std::optional<double> reward;
  std::string cause;
  std::string detail;
  std::string json;  // the daemon's answer as a whole, on one line

  bool operator==(const AnswerLine&) const = default;
};

// Of one line of the stream: an answer, or nothing where it is something else. Fails with internal
// if it cannot be understood.
kernel::Result<std::optional<AnswerLine>> answer_line(std::string_view stream_line);

// Of a line that was not sent, as the daemon would have answered it.
AnswerLine answer_to_mistake(const ItemLine& line);
// Of an item whose answer did not come.
AnswerLine answer_to_missing(const ItemLine& line, const std::string& why);

// "pass     1.000  HumanEval/0" or "fail     0.500  a  wrong_answer: case 2 of 4".
std::string text_of(const AnswerLine& answer);

struct VerifyTally {
  std::size_t items = 0;
  std::map<std::string, std::size_t> verdicts;
  std::map<std::string, std::size_t> invalid_causes;
  double rewards = 0;

  void add(const AnswerLine& answer);
  std::size_t invalid() const;
};

// "164 items: 160 pass, 3 fail, 1 invalid (host_overloaded); mean reward 0.988; 12.3 s\n"
std::string summary(const VerifyTally& tally, std::chrono::milliseconds took);

// "[#####-----]  82/164  3 fail  0 invalid  6 s", `columns` wide at most.
std::string progress_bar(const VerifyTally& tally, std::size_t of, std::chrono::milliseconds took,
                         std::size_t columns);

}  // namespace paddock::supervisor::cli
