#include "supervisor/verify/programs.hpp"

#include <string>

#include "support/catch.hpp"

using namespace paddock::supervisor;

TEST_CASE("the Python programs are in the daemon, each small enough for an argument") {
  constexpr std::size_t argument_bytes_max = 120 * 1024;  // Linux: 128 KiB, NUL included
  for (const std::string_view program : {candidate_program, judge_program, in_process_program}) {
    CHECK(program.size() > 1000);
    CHECK(program.size() < argument_bytes_max);
    CHECK(program.find('\0') == std::string_view::npos);
    const std::string end = "\nmain()\n\n";
    REQUIRE(program.size() > end.size());
    CHECK(program.substr(program.size() - end.size()) == end);
  }
  CHECK(candidate_program.find("judge_assertions") == std::string_view::npos);
}
