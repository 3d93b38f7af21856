// explain, drain, events and top, the daemon being a test.

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "with_daemon.hpp"

namespace {

FakeDaemon::Handler for_top() {
  return [](const FakeRequest& request, const FakeConnection& connection) {
    if (request.target == "/health")
      connection.respond(200, R"({"status": "ok", "config_stale": false, "profiles_refused": 0,
                                  "runs_alive": 0, "runs_queued": 0})");
    else
      connection.respond(200, R"({"runs": [], "agents": []})");
    return true;
  };
}

// `paddock top` on a terminal of its own; what it printed, after `act` has seen its first screen.
std::string on_terminal(const FakeDaemon& daemon, const std::function<void(int, pid_t)>& act,
                        int& exit_code) {
  int terminal = -1;
  winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "paddock";
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, &size);
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::execl(program.c_str(), "paddock", "--socket", daemon.socket().c_str(), "top", nullptr);
    ::_exit(99);
  }
  std::string seen;
  bool acted = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (;;) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    pollfd polled{terminal, POLLIN, 0};
    ::poll(&polled, 1, 100);
    char buffer[4096];
    if (polled.revents != 0) {
      const ssize_t count = ::read(terminal, buffer, sizeof buffer);
      if (count <= 0) break;
      seen.append(buffer, static_cast<std::size_t>(count));
    }
    if (!acted && seen.find("0 alive") != std::string::npos) {
      acted = true;
      act(terminal, pid);
    }
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::close(terminal);
  exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return seen;
}

constexpr const char* run_id = "r-0000000000000001";

}  // namespace

TEST_CASE("explain prints three paragraphs, or the daemon's JSON") {
  const std::string answer =
      R"({"id": "r-0000000000000001", "needed": true, "limit": "The limit.",
          "observed": "The numbers\u001b[2J.", "change": "The change."})";
  const FakeDaemon daemon(answering(200, answer));
  const CliEnded text = with_daemon(daemon, {"explain", run_id});
  CHECK(text.exit_code == 0);
  CHECK(text.out == "The limit.\n\nThe numbers\\x1b[2J.\n\nThe change.\n");
  CHECK(with_daemon(daemon, {"explain", run_id, "--json"}).out == answer);
  CHECK(daemon.requests()[0].target == "/v1/runs/r-0000000000000001/explain");
  CHECK(with_daemon(daemon, {"explain", "../../health"}).exit_code == 1);
  CHECK(daemon.requests().size() == 2);
}

TEST_CASE("explain without a daemon looks for the ledger, and says where") {
  const CliDirectory empty;
  const CliEnded ended = CliProcess({"--embedded", "explain", run_id},
                                    {.environment = {{"XDG_STATE_HOME", empty.path()}}})
                             .wait();
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.find("no run") + ended.err.find("no ledger at") != 2 * std::string::npos);
}

// Its ledger is not known, and another daemon's would answer for it.
TEST_CASE(
    "explain of a daemon that was named and is not there reads no ledger, and its help agrees") {
  const CliEnded ended =
      CliProcess({"explain", run_id}, {.environment = {{"PADDOCK_SOCKET", "/no/such.sock"}}})
          .wait();
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.find("named by PADDOCK_SOCKET") != std::string::npos);
  CHECK(ended.err.find("ledger") == std::string::npos);
  const CliEnded help = run_cli({"explain", "--help"});
  CHECK(help.out.find("Where none is named and none runs") != std::string::npos);
}

TEST_CASE("drain waits and says what became of the runs") {
  const FakeDaemon daemon(
      answering(200, R"({"finished": 3, "killed": 1, "never_started": 0, "cancelled": false})"));
  const CliEnded ended = with_daemon(daemon, {"drain", "--deadline", "1.5m"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == "drained: 3 runs finished, 1 run killed, 0 runs never started\n");
  CHECK(daemon.requests()[0].method == "POST");
  CHECK(nlohmann::json::parse(daemon.requests()[0].body)["deadline_seconds"] == 90);
  CHECK(with_daemon(daemon, {"drain", "--deadline", "0"}).exit_code == 0);
  CHECK(nlohmann::json::parse(daemon.requests()[1].body)["deadline_seconds"] == 0);
  CHECK(with_daemon(daemon, {"drain", "--cancel"}).out == "runs are taken again\n");
  CHECK(daemon.requests()[2].method == "DELETE");
  CHECK(with_daemon(daemon, {"drain", "--cancel", "--deadline", "5"}).exit_code == 1);
  CHECK(with_daemon(daemon, {"drain", "--deadline", "soon"}).exit_code == 1);
  CHECK(daemon.requests().size() == 3);
}

TEST_CASE("a drain that somebody cancelled is not a success") {
  const FakeDaemon daemon(
      answering(200, R"({"finished": 1, "killed": 0, "never_started": 0, "cancelled": true})"));
  const CliEnded ended = with_daemon(daemon, {"drain"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.starts_with("cancelled: 1 run finished"));
}

TEST_CASE("events are passed on line by line, without the daemon's empty ones") {
  const FakeDaemon daemon([](const FakeRequest&, const FakeConnection& connection) {
    connection.begin_chunks();
    connection.chunk("{\"seq\": 1}\n\n{\"se");
    connection.chunk("q\": 2}\n\n");
    connection.end_chunks();
    return true;
  });
  const CliEnded ended =
      with_daemon(daemon, {"events", "-f", "--after", "0", "--kind", "run.", "--limit", "7"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == "{\"seq\": 1}\n{\"seq\": 2}\n");
  CHECK(daemon.requests()[0].target == "/v1/events?follow=true&after=0&limit=7&kind=run.");
  CHECK(with_daemon(daemon, {"events", "--kind", "a&b"}).exit_code == 1);
  CHECK(daemon.requests().size() == 1);
}

TEST_CASE("events that have been pruned are an error that names the oldest") {
  const FakeDaemon daemon(answering(
      410, R"({"error": {"code": "pruned", "message": "the oldest is 7", "oldest": 7}})"));
  const CliEnded ended = with_daemon(daemon, {"events", "--after", "1"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err == "paddock: the oldest is 7\n");
}

TEST_CASE("top without a terminal prints once, without any escape sequence") {
  const FakeDaemon daemon(for_top());
  const CliEnded ended = with_daemon(daemon, {"top"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.starts_with("paddock: ok, 0 alive, 0 queued\n"));
  CHECK(ended.out.find('\x1b') == std::string::npos);
}

TEST_CASE("top gives the terminal back, whether a key or a signal ends it") {
  const FakeDaemon daemon(for_top());
  const std::vector<std::function<void(int, pid_t)>> ways = {
      [](int terminal, pid_t) { REQUIRE(::write(terminal, "q", 1) == 1); },
      [](int terminal, pid_t) { REQUIRE(::write(terminal, "\x03", 1) == 1); },
      [](int, pid_t pid) { ::kill(pid, SIGTERM); },
      [](int, pid_t pid) { ::kill(pid, SIGINT); },
  };
  for (const auto& way : ways) {
    int exit_code = -1;
    const std::string seen = on_terminal(daemon, way, exit_code);
    CHECK(exit_code == 0);
    CHECK(seen.starts_with("\x1b[?1049h"));
    CHECK(seen.ends_with("\x1b[?25h\x1b[?1049l"));
  }
}

TEST_CASE("top gives the terminal back when the daemon goes away") {
  bool gone = false;
  const FakeDaemon daemon([&](const FakeRequest& request, const FakeConnection& connection) {
    if (gone) return false;
    gone = request.target == "/v1/agents";
    return for_top()(request, connection);
  });
  int exit_code = -1;
  const std::string seen = on_terminal(
      daemon, [](int, pid_t) {}, exit_code);
  CHECK(exit_code == 1);
  CHECK(seen.find("\x1b[?1049l") != std::string::npos);
  CHECK(seen.find("paddock: the daemon closed the connection") > seen.find("\x1b[?1049l"));
}

TEST_CASE("what is said of runs without a daemon is refused beside one, whose own counts") {
  for (const std::string option : {"--cgroup-base", "--profiles", "--agents"})
    for (const Words& command :
         {Words{"ps"}, Words{"run", "--", "true"}, Words{"profile", "list"}}) {
      const FakeDaemon daemon(answering(200, R"({"runs": []})"));
      Words words = {option, "none"};
      words.insert(words.end(), command.begin(), command.end());
      const CliEnded ended = with_daemon(daemon, words);
      CHECK(ended.exit_code == 1);
      CHECK(ended.err.find(option + " is for runs without a daemon") != std::string::npos);
      CHECK(daemon.requests().empty());
    }
}

TEST_CASE("run --json prints JSON on a refusal, too") {
  const CliEnded ended = run_cli({"run", "--json", "--profile", "STRCT", "--", "true"});
  CHECK(ended.exit_code == 1);
  const auto json = nlohmann::json::parse(ended.out);
  CHECK(json["error"]["code"] == "unknown_profile");
  CHECK(ended.err.find("did you mean 'STRICT'?") != std::string::npos);
}

TEST_CASE("output that is lost because stdout is closed is no success") {
  const CliEnded lost = run_cli({"run", "--profile", "OFF", "--", "echo", "x"}, {.closed = {1}});
  CHECK(lost.exit_code == 1);
  CHECK(run_cli({"run", "--profile", "OFF", "--", "true"}, {.closed = {1}}).exit_code == 0);
  CHECK(run_cli({"run", "--json", "--profile", "OFF", "--", "true"}, {.closed = {1}}).exit_code ==
        1);
  CHECK(run_cli({"profile", "list"}, {.closed = {1}}).exit_code == 1);
}
