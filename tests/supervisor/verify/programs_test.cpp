#include "supervisor/verify/programs.hpp"

#include <string>

#include "kernel/base/hash.hpp"
#include "supervisor/verify/commands.hpp"
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

TEST_CASE("a command holds its program's text, and is shown with the program's name and digest") {
  const auto named = [](const char* name, std::string_view program) {
    return "<paddock " + std::string(name) + ", sha256:" + paddock::kernel::sha256_hex(program) +
           ">";
  };
  using Words = std::vector<std::string>;
  CHECK(judge_command().argv ==
        Words{"python3", "-I", "-S", "-B", "-c", std::string(judge_program)});
  CHECK(judge_command().recorded->words ==
        Words{"python3", "-I", "-S", "-B", "-c", named("judge", judge_program)});
  CHECK(candidate_command().argv == Words{"python3", "-I", "-c", std::string(candidate_program)});
  CHECK(candidate_command().recorded->words ==
        Words{"python3", "-I", "-c", named("candidate", candidate_program)});
  CHECK(in_process_command().recorded->words ==
        Words{"python3", "-I", "-c", named("in_process", in_process_program)});
  CHECK(judge_command().recorded->sha256 == recorded_argv(judge_command().argv).sha256);
}
