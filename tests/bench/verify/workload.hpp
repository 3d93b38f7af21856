#pragma once
// What every contender judges: HumanEval's reference solutions with their tests, as one program for
// those that run a program, and as an item for POST /v1/verify.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace bench {

struct Problem {
  std::string name;
  std::string program;  // solution, tests and their call: right if it ends with 0
  std::string item;     // JSON, without an id
};

// The first `count` of the file; all, if there are fewer.
std::vector<Problem> read_problems(const std::string& path, std::size_t count);

// How verify runs candidate and judge. The one place that knows how a request asks for it and how
// an answer says what it got.
// warm_judged: with a judge's run for each item, also where the answers are known.
enum class Runtime { warm, warm_judged, cold, unasked };

const char* name_of(Runtime runtime);
bool is_warm(Runtime runtime);  // asks to be
// A whole request; the items have the ids "first", "first + 1" ...
std::string verify_request(const std::vector<Problem>& problems, std::size_t first,
                           std::size_t count, Runtime runtime);
// Of an answer to `count` items: how many did not pass, for whatever reason.
std::size_t not_passed(const std::string& answer, std::size_t count);
// Of an answer, or of the record of a run: does it say that it ran cold?
bool says_cold(const std::string& text);
bool says_warm(const std::string& text);

}  // namespace bench
