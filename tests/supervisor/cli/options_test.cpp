// The command line: what becomes of words, and what is said about mistakes.

#include "supervisor/cli/options.hpp"

#include "kernel/policy/request.hpp"
#include "supervisor/cli/request.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor::cli;
using Words = std::vector<std::string>;

namespace {

std::optional<std::string> fake_environment(const std::string& name) {
  if (name == "LANG") return "C.UTF-8";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

std::variant<Options, Farewell> parse_words(const Words& words) {
  return parse_options(words, fake_environment, "/home/user");
}

Options options_of(const Words& words) {
  const auto parsed = parse_words(words);
  if (const auto* farewell = std::get_if<Farewell>(&parsed)) FAIL(farewell->error);
  return std::get<Options>(parsed);
}

std::string mistake_in(const Words& words) {
  const auto parsed = parse_words(words);
  const auto* farewell = std::get_if<Farewell>(&parsed);
  if (farewell == nullptr) return "no mistake";
  CHECK(farewell->exit_code == 1);
  CHECK(farewell->text.empty());
  CHECK(farewell->error.find('\n') == std::string::npos);
  return farewell->error;
}

bool begins(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

}  // namespace

TEST_CASE("every option of run ends up in the request") {
  const Options options = options_of({"run",
                                      "--profile",
                                      "STRICT",
                                      "--wall",
                                      "1.5",
                                      "--cpu",
                                      "3",
                                      "--memory-mb",
                                      "256",
                                      "--max-procs",
                                      "8",
                                      "--bind-ro",
                                      "/srv/a",
                                      "--bind-ro",
                                      "data/../b/",
                                      "--bind-rw",
                                      "/srv/c",
                                      "--workdir",
                                      "/srv/c",
                                      "--env",
                                      "A=1",
                                      "--env",
                                      "B=x=y",
                                      "--allow-env",
                                      "LANG",
                                      "--network",
                                      "--tenant",
                                      "team",
                                      "--allow-degraded",
                                      "--",
                                      "make",
                                      "-j",
                                      "2"});
  CHECK(options.command == Command::run);

  paddock::kernel::Request expected;
  expected.profile = "STRICT";
  expected.wall_clock = std::chrono::milliseconds(1500);
  expected.cpu_seconds = 3;
  expected.memory_bytes = 256u << 20;
  expected.nproc = 8;
  expected.bind_ro = {"/srv/a", "/home/user/b"};
  expected.bind_rw = {"/srv/c"};
  expected.environment = {{"A", "1"}, {"B", "x=y"}, {"LANG", "C.UTF-8"}};
  expected.network = true;
  expected.tenant = "team";
  expected.allow_degraded = true;
  expected.argv = {"make", "-j", "2"};
  CHECK(request_of(options.request) == expected);
}

TEST_CASE("a Python program can be given with -c") {
  CHECK(options_of({"run", "-c", "print(1)"}).request.argv == Words{"python3", "-c", "print(1)"});
  CHECK(options_of({"run", "-c", "-1"}).request.argv == Words{"python3", "-c", "-1"});
  CHECK(options_of({"run", "-c", "[1, 2]"}).request.argv == Words{"python3", "-c", "[1, 2]"});
  CHECK(options_of({"run", "-c", ""}).request.argv == Words{"python3", "-c", ""});
}

TEST_CASE("what follows -- is the command, whatever it looks like") {
  CHECK(options_of({"run", "--", "--help"}).request.argv == Words{"--help"});
  CHECK(options_of({"run", "--", "sh", "-c", "x", "--", "", "[a,b]", "--json"}).request.argv ==
        Words{"sh", "-c", "x", "--", "", "[a,b]", "--json"});
  CHECK_FALSE(options_of({"run", "--", "true", "--json"}).json);
  CHECK(options_of({"run", "--agent", "python", "--", "-x"}).request.argv == Words{"-x"});
}

TEST_CASE("an agent may come without a command") {
  const Options options = options_of({"run", "--agent", "python"});
  CHECK(options.request.agent == "python");
  CHECK(options.request.argv.empty());
}

TEST_CASE("global options may come before the command and after it") {
  CHECK(options_of({"--socket", "/s", "ps"}).global.socket == "/s");
  CHECK(options_of({"ps", "--socket", "/s"}).global.socket == "/s");
  CHECK(options_of({"profile", "list", "--socket", "/s"}).global.socket == "/s");
  CHECK(options_of({"run", "--embedded", "--", "x"}).global.embedded);
  CHECK(
      options_of({"profile", "check", "--profiles", "a", "--profiles", "b", "c"}).global.profiles ==
      Words{"a", "b"});
}

TEST_CASE("each command is told from the others") {
  CHECK(options_of({"ps", "--all"}).command == Command::ps);
  CHECK(options_of({"ps", "--all"}).all);
  CHECK(options_of({"kill", "r-1", "r-2"}).command == Command::kill);
  CHECK(options_of({"kill", "r-1", "r-2"}).ids == Words{"r-1", "r-2"});
  CHECK(options_of({"profile", "list"}).command == Command::profile_list);
  CHECK(options_of({"profile", "show", "OFF"}).command == Command::profile_show);
  CHECK(options_of({"profile", "show", "OFF"}).profile == "OFF");
  CHECK(options_of({"profile", "check"}).command == Command::profile_check);
  CHECK(options_of({"policy"}).command == Command::policy);
  CHECK(options_of({"reload"}).command == Command::reload);
  CHECK(options_of({"doctor"}).command == Command::doctor);
  CHECK(options_of({"doctor"}).profile == "STRICT");
  CHECK(options_of({"doctor", "-p", "NODE"}).profile == "NODE");
  CHECK(options_of({"ledger", "verify"}).command == Command::ledger_verify);
  CHECK(options_of({"ledger", "verify"}).ledger_file.empty());
  CHECK(options_of({"ledger", "verify", "--head", "1:a", "x.db"}).ledger_file == "x.db");
  CHECK(options_of({"ledger", "verify", "--head", "1:a", "x.db"}).ledger_head == "1:a");
  CHECK(options_of({"ledger", "show", "r-1"}).command == Command::ledger_show);
  CHECK(options_of({"ledger", "show", "r-1"}).run == "r-1");
  CHECK(options_of({"ledger", "show", "r-1", "--file", "x.db"}).ledger_file == "x.db");
  CHECK(options_of({"ledger", "verify", "--file", "x.db"}).ledger_file == "x.db");
  CHECK(options_of({"ledger", "verify", "--state-dir", "/s"}).state_directory == "/s");
  CHECK(options_of({"ledger", "show", "r-1", "--config", "d.toml"}).config_file == "d.toml");
  CHECK(mistake_in({"ledger", "verify", "x.db", "--state-dir", "/s"}).find("--state-dir") !=
        std::string::npos);
}

TEST_CASE("a workdir is kept as typed and as a path of the host") {
  const Options options = options_of({"run", "--workdir", "src", "--", "make"});
  CHECK(options.request.workdir == "src");
  CHECK(options.request.host_workdir == "/home/user/src");
}

TEST_CASE("a mistake names the option and the cause") {
  CHECK(begins(mistake_in({"run", "--env", "FOO", "--", "x"}), "--env: 'FOO' has no '='"));
  CHECK(begins(mistake_in({"run", "--env", "=1", "--", "x"}), "--env: '=1' names no variable"));
  CHECK(begins(mistake_in({"run", "--allow-env", "NOPE", "--", "x"}),
               "--allow-env: 'NOPE' is not set here"));
  CHECK(begins(mistake_in({"run", "--wall", "soon", "--", "x"}), "--wall: "));
  CHECK(begins(mistake_in({"run", "--wall", "0", "--", "x"}), "--wall: "));
  CHECK(begins(mistake_in({"run", "--wall", "-1", "--", "x"}), "--wall: "));
  CHECK(begins(mistake_in({"run", "--cpu", "1.5", "--", "x"}),
               "--cpu: '1.5' is not a whole number of 1 or more"));
  CHECK(begins(mistake_in({"run", "--cpu", "0", "--", "x"}), "--cpu: '0'"));
  CHECK(begins(mistake_in({"run", "--max-procs", "-3", "--", "x"}), "--max-procs: '-3'"));
  CHECK(begins(mistake_in({"run", "--memory-mb", "99999999999999999999", "--", "x"}),
               "--memory-mb: '99999999999999999999'"));
  CHECK(begins(mistake_in({"run", "--memory-mb", "18446744073709551615", "--", "x"}),
               "--memory-mb: 18446744073709551615 MiB is more than can be counted"));
  CHECK(begins(mistake_in({"run"}), "run: nothing to run"));
  CHECK(begins(mistake_in({"run", "--"}), "run: nothing to run"));
  CHECK(begins(mistake_in({"run", "-c", "1", "--", "x"}), "-c: "));
  CHECK(mistake_in({"run", "--profile", "A", "--agent", "B"}).find("excludes") !=
        std::string::npos);
  CHECK(mistake_in({"run", "true"}).find("goes after --") != std::string::npos);
  CHECK(mistake_in({"run", "--bogus", "--", "x"}).find("--bogus") != std::string::npos);
  CHECK(mistake_in({"run", "--wall"}).find("--wall") != std::string::npos);
  CHECK(mistake_in({"ledger"}).find("see paddock ledger --help") != std::string::npos);
  CHECK(mistake_in({"ledger", "show"}).find("run") != std::string::npos);
  CHECK(mistake_in({"ledger", "show", "r-1", "r-2"}).find("r-2") != std::string::npos);
  CHECK(mistake_in({"kill"}).find("id") != std::string::npos);
  CHECK(mistake_in({"ps", "--", "x"}).find("x") != std::string::npos);
  CHECK(begins(mistake_in({"frob"}), "unknown command 'frob'"));
  CHECK(begins(mistake_in({"rnu", "--", "x"}), "unknown command 'rnu'; did you mean 'run'?"));
  CHECK(mistake_in({}).find("see paddock --help") != std::string::npos);
}

TEST_CASE("the help of every command teaches with an example") {
  const std::vector<Words> commands = {
      {},
      {"run"},
      {"ps"},
      {"kill"},
      {"profile"},
      {"profile", "list"},
      {"profile", "show"},
      {"profile", "check"},
      {"policy"},
      {"reload"},
      {"doctor"},
      {"ledger"},
      {"ledger", "verify"},
      {"ledger", "show"},
      {"recover"},
  };
  for (Words words : commands) {
    const std::string command = words.empty()       ? "run"
                                : words.size() == 1 ? words[0]
                                                    : words[0] + " " + words[1];
    words.push_back("--help");
    const auto parsed = parse_words(words);
    const auto* farewell = std::get_if<Farewell>(&parsed);
    REQUIRE(farewell != nullptr);
    INFO(farewell->text);
    CHECK(farewell->exit_code == 0);
    CHECK(farewell->error.empty());
    const std::size_t example = farewell->text.find("Example");
    REQUIRE(example != std::string::npos);
    CHECK(farewell->text.find("paddock " + command, example) != std::string::npos);
  }
}

TEST_CASE("the version is printed with --version") {
  const auto parsed = parse_words({"--version"});
  const auto* farewell = std::get_if<Farewell>(&parsed);
  REQUIRE(farewell != nullptr);
  CHECK(farewell->exit_code == 0);
  CHECK(begins(farewell->text, "paddock "));
}
