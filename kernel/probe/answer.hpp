#pragma once
// What paddock-probe answers for one attempt, and what a probe expects. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace paddock::kernel {

struct Answer {
  enum class Kind {
    silent,   // no answer came
    done,     // it worked
    refused,  // number = errno
    killed,   // number = signal
    cannot,   // it could not be tried; why
  };
  Kind kind = Kind::silent;
  int number = 0;
  std::string why{};

  bool operator==(const Answer&) const = default;
};

std::string to_string(const Answer& answer);  // "refused EPERM", "killed by SIGSYS", "done"

// The answers in what paddock-probe printed, one for each of `count` attempts.
std::vector<Answer> parse_answers(std::string_view text, std::size_t count);

// How a control must stop an attempt.
struct Expected {
  Answer::Kind kind = Answer::Kind::refused;
  std::vector<int> numbers{};  // one of these errnos or signals; empty: any

  bool operator==(const Expected&) const = default;
};

bool meets(const Answer& answer, const Expected& expected);

}  // namespace paddock::kernel
