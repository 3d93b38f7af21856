// Bad input: one clear line that names the place, exit code 1, and nothing started.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>

#include "cli_process.hpp"
#include "kernel/base/fd.hpp"
#include "support/catch.hpp"

namespace {

void check_refused(const Words& words, const std::string& part, CliOptions options = {}) {
  const CliEnded ended = run_cli(words, std::move(options));
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err.compare(0, 9, "paddock: ") == 0);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK(ended.err.find(part) != std::string::npos);
}

// Of a daemon that is gone.
void leave_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const paddock::kernel::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

}  // namespace

TEST_CASE("each mistake is one line that names it") {
  check_refused({}, "--help");
  check_refused({"frob"}, "unknown command 'frob'");
  check_refused({"run"}, "nothing to run");
  check_refused({"run", "true"}, "goes after --");
  check_refused({"run", "--env", "X", "--", "true"}, "'X' has no '='");
  check_refused({"run", "--allow-env", "NOT_SET", "--", "true"}, "'NOT_SET' is not set here");
  check_refused({"run", "--profile", "STRIC", "--", "true"}, "did you mean 'STRICT'?");
  check_refused({"run", "--profile", "../x", "--", "true"}, "'../x'");
  check_refused({"run", "--agent", "pyton"}, "did you mean 'python'?");
  check_refused({"run", "--tenant", "a b", "--", "true"}, "tenant");
  check_refused({"run", "--", ""}, "argv[0] is empty");
  check_refused({"run", "--bind-ro", "/usr/share", "--", "true"}, "bubblewrap");
  check_refused({"run", "--profile", "STRICT", "--bind-ro", "/no/such/path", "--", "true"},
                "/no/such/path");
  check_refused({"profile", "show", "X\n\x1b[2J"}, "X\\x0a\\x1b[2J");
  check_refused({"profile", "show", "STRICK"}, "did you mean 'STRICT'?");
}

TEST_CASE("an option whose word is empty is refused, and not taken for one that was left out") {
  for (const std::string option :
       {"--profile", "--agent", "--bind-ro", "--bind-rw", "--workdir", "--wall", "--tenant"})
    check_refused({"run", option, "", "--", "true"}, option + ": is empty");
  for (const std::string option : {"--profiles", "--agents", "--cgroup-base"})
    check_refused({option, "", "run", "--profile", "OFF", "--", "true"}, option + ": is empty");
  check_refused({"policy", "--profile", ""}, "--profile: is empty");
  check_refused({"ledger", "verify", "--state-dir", ""}, "--state-dir: is empty");
}

TEST_CASE("an amount that is no whole number is refused") {
  for (const std::string amount : {"-5", "0", "1e400", "x"})
    check_refused({"budget", "grant", "writer", "tokens", amount},
                  "'" + amount + "' is not a whole number of 1 or more");
}

TEST_CASE("a command that needs a daemon does not use one beside --embedded") {
  for (const Words& words : {Words{"ps"}, Words{"kill", "r-0123456789abcdef"}, Words{"top"},
                             Words{"reload"}, Words{"drain"}, Words{"agent", "list"}})
    check_refused(words, words.front() + " needs a daemon, and --embedded says to use none");
}

TEST_CASE("arguments and variables beyond the bounds are refused") {
  Words many = {"run", "--"};
  many.resize(9'002, "x");
  check_refused(many, "argv has 9000 entries");
  Words large = {"run"};
  for (int i = 0; i < 10; ++i)
    large.insert(large.end(), {"--env", "V" + std::to_string(i) + "=" + std::string(120'000, 'x')});
  large.insert(large.end(), {"--", "true"});
  check_refused(large, "environment is 12000");
}

TEST_CASE("a daemon that was named and is not there is an error, and nothing runs embedded") {
  const Words run = {"--socket", "/no/such/paddock.sock", "run", "--", "echo", "ran"};
  const CliEnded ended = CliProcess(run).wait();
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err ==
        "paddock: connect to '/no/such/paddock.sock': No such file or directory (named by "
        "--socket)\n");
  const CliEnded variable =
      CliProcess({"ps"}, {.environment = {{"PADDOCK_SOCKET", "/no/such/paddock.sock"}}}).wait();
  CHECK(variable.exit_code == 1);
  CHECK(variable.err.find("named by PADDOCK_SOCKET") != std::string::npos);
  const CliEnded too_long = CliProcess({"--socket", "/" + std::string(119, 'x'), "ps"}).wait();
  CHECK(too_long.err.find("is 120 bytes, at most 107") != std::string::npos);
}

TEST_CASE("recover names the cgroup base that it cannot use, and ends nothing") {
  const CliDirectory directory;
  const std::string state = directory.path() + "/state";
  REQUIRE(::mkdir(state.c_str(), 0700) == 0);
  directory.write("state/ledger.db", "");
  const std::string config =
      directory.write("paddockd.toml", "cgroup_base = \"/sys/fs/cgroup/no/such/base\"\n");
  const CliEnded ended = run_cli({"recover", "--config", config, "--state-dir", state});
  CHECK(ended.exit_code == 3);
  CHECK(ended.out.empty());
  CHECK(ended.err ==  // and no complaint of a leak
        "paddock: cgroup base '/sys/fs/cgroup/no/such/base' cannot be opened: No such file or "
        "directory\n");
}

TEST_CASE("recover names a path that is no UTF-8, in JSON as well") {
  const CliDirectory directory;
  const std::string runtime = directory.path() + "/run\xff";
  for (const std::string& made : {directory.path() + "/state", runtime})
    REQUIRE(::mkdir(made.c_str(), 0700) == 0);
  directory.write("state/ledger.db", "");
  leave_socket(runtime + "/paddock.sock");
  const CliEnded ended = run_cli(
      {"recover", "--json", "--state-dir", directory.path() + "/state", "--runtime-dir", runtime});
  CHECK(ended.err.empty());
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.find("/run\xef\xbf\xbd/paddock.sock\"]") != std::string::npos);
}

TEST_CASE("commands that need a daemon say so") {
  // Nobody's default place: this user has no runtime directory there. Root's is fixed.
  const CliDirectory directory;
  for (const Words& words : {Words{"ps"}, Words{"kill", "r-0123456789abcdef"}, Words{"reload"}}) {
    const CliEnded ended =
        CliProcess(words, {.environment = {{"XDG_RUNTIME_DIR", directory.path()}}}).wait();
    if (ended.exit_code == 0) continue;  // root, and a daemon does run
    CHECK(ended.exit_code == 1);
    CHECK(ended.err.find(words.front()) != std::string::npos);
  }
}
