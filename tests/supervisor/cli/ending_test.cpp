// How runs end: exit codes, and the line that says why.

#include <nlohmann/json.hpp>

#include "cli_process.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace {

struct Row {
  Words options;  // of run
  Words command;
  int exit_code;
  int exit_status;      // with --exit-status
  const char* message;  // part of stderr; empty: stderr is empty
};

void check_rows(const std::string& profile, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (const bool pass_status : {false, true}) {
      Words words = {"run", "--profile", profile};
      words.insert(words.end(), row.options.begin(), row.options.end());
      if (pass_status) words.push_back("--exit-status");
      words.push_back("--");
      words.insert(words.end(), row.command.begin(), row.command.end());
      const CliEnded ended = run_cli(words);
      INFO(profile << ": " << row.command.back() << "\n" << ended.err);
      CHECK(ended.exit_code == (pass_status ? row.exit_status : row.exit_code));
      CHECK(contains(ended.err, row.message));
      if (*row.message == '\0') CHECK(ended.err.empty());
    }
  }
}

const std::vector<Row> rows = {
    {{}, {"true"}, 0, 0, ""},
    {{}, {"false"}, 2, 1, "paddock: exited with 1\n"},
    {{}, {"sh", "-c", "exit 7"}, 2, 7, "paddock: exited with 7\n"},
    {{}, {"sh", "-c", "kill -SEGV $$"}, 2, 139, "paddock: ended by SIGSEGV after"},
    {{}, {"no-such-program"}, 2, 127, "paddock: cannot execute the program: No such file"},
    {{}, {"/usr"}, 2, 126, "paddock: cannot execute the program: Permission denied"},
    {{"--wall", "0.3"},
     {"sleep", "30"},
     2,
     124,
     "wall_seconds (300ms) passed; it ended within its grace ("},
    {{"--cpu", "1"}, {"sh", "-c", "while :; do :; done"}, 2, 137, "cpu_seconds passed (profile "},
};

}  // namespace

TEST_CASE("under STRICT each end has its exit code and its line") {
  if (sandbox_works()) check_rows("STRICT", rows);
}

TEST_CASE("under OFF each end has its exit code and its line") {
  check_rows("OFF", rows);
}

TEST_CASE("DEFAULT is what a run gets when nothing is said") {
  const CliEnded ended = run_cli({"run", "--json", "--", "true"});
  CHECK(nlohmann::json::parse(ended.out).at("profile") == "DEFAULT");
}

TEST_CASE("with --json the record is printed, output included, and nothing else") {
  const CliEnded ended = run_cli({"run", "--json", "--profile", "OFF", "--tenant", "team", "--",
                                  "sh", "-c", "cat; echo problem >&2; exit 3"},
                                 {.input = "input\n"});
  CHECK(ended.exit_code == 2);
  CHECK(ended.err.empty());
  CHECK(ended.out.find('\n') == ended.out.size() - 1);
  const auto run = nlohmann::json::parse(ended.out);
  CHECK(run.at("state") == "finished");
  CHECK(run.at("tenant") == "team");
  CHECK(run.at("result").at("exit_code") == 3);
  CHECK(run.at("result").at("stdout") == "input\n");
  CHECK(run.at("result").at("stderr") == "problem\n");
  CHECK(run.at("confinement").at("profile") == "OFF");
}

TEST_CASE("the record of --json carries bytes that are no text") {
  const CliEnded ended = run_cli({"run", "--json", "--profile", "OFF", "--", "printf", "\\377"});
  CHECK(nlohmann::json::parse(ended.out).at("result").at("stdout_base64") == "/w==");
}

TEST_CASE("a run with --report says what confined it") {
  if (!sandbox_works()) return;
  const CliEnded ended =
      run_cli({"run", "--profile", "STRICT", "--report", "--wall", "0.3", "--", "sleep", "30"});
  CHECK(ended.exit_code == 2);
  CHECK(ended.out.empty());
  INFO(ended.err);
  CHECK(contains(ended.err, "\n  cause         wall_clock\n"));
  CHECK(contains(ended.err, "killed after 0.3"));
  CHECK(contains(ended.err, "\n  profile       STRICT\n"));
  CHECK(contains(ended.err, "\n  namespaces    cgroup ipc mnt net pid user uts\n"));
  CHECK(contains(ended.err, "\n  cpu_seconds   120 s for each process\n"));
}
