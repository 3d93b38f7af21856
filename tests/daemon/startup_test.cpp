// How the daemon starts, and what it refuses to start with: one clear error each.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

std::vector<std::string> arguments(const DaemonDirectory& directory,
                                   const std::vector<std::string>& further = {}) {
  std::vector<std::string> all = {"--runtime-dir", directory.path("run"), "--state-dir",
                                  directory.path("state")};
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

unsigned mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("help, version and mistakes on the command line have their exit codes") {
  const DaemonAttempt help = try_daemon({"--help"});
  CHECK(help.ended.exit_status == 0);
  CHECK(help.standard_output.find("--runtime-dir DIR") != std::string::npos);
  CHECK(help.standard_output.find("Example:") != std::string::npos);
  const DaemonAttempt version = try_daemon({"--version"});
  CHECK(version.ended.exit_status == 0);
  CHECK(version.standard_output.starts_with("paddockd "));
  const DaemonAttempt unknown = try_daemon({"--runtime-dri", "/x"});
  CHECK(unknown.ended.exit_status == 1);
  CHECK(unknown.standard_error.find("--runtime-dri") != std::string::npos);
  CHECK(try_daemon({"--config"}).ended.exit_status == 1);
  for (const std::string option :
       {"--config", "--runtime-dir", "--state-dir", "--profiles", "--access", "--cgroup-base"}) {
    const DaemonAttempt empty = try_daemon({option, ""});
    CHECK(empty.ended.exit_status == 1);
    CHECK(empty.standard_error.find(option + ": is empty") != std::string::npos);
  }
  CHECK(try_daemon({"--log-format", "xml"}).ended.exit_status == 1);
  const DaemonAttempt missing = try_daemon({"--config", "/no/such/file.toml"});
  CHECK(missing.ended.exit_status == 1);
  CHECK(missing.standard_error ==
        "paddockd: open '/no/such/file.toml': No such file or directory\n");
}

TEST_CASE("sockets are for their owner alone, in directories that are too") {
  const DaemonFixture daemon;
  CHECK(mode_of(daemon.socket()) == 0600);
  CHECK(mode_of(daemon.trainer_socket()) == 0600);
  CHECK(mode_of(daemon.directory().path("state")) == (::geteuid() == 0 ? 0711u : 0700u));
}

TEST_CASE("a missing runtime directory is made, with its parents, for the owner alone") {
  const DaemonDirectory other;
  const DaemonFixture daemon({.runtime_directory = other.path("a/b/run")});
  CHECK(daemon.get("/health").status == 200);
  for (const char* made : {"a", "a/b", "a/b/run"}) CHECK(mode_of(other.path(made)) == 0700);
}

TEST_CASE("a config file with mistakes names each with its place") {
  const DaemonDirectory directory;
  const std::string file =
      directory.write("paddockd.toml",
                      "runtime_dir = \"relative\"\nhost_uids = \"9-1\"\n[limits]\nruns_alive = 0\n"
                      "run_queued = 5\n");
  const DaemonAttempt attempt = try_daemon({"--config", file});
  CHECK(attempt.ended.exit_status == 1);
  INFO(attempt.standard_error);
  CHECK(lines_in(attempt.standard_error) == 4);
  for (const char* place : {":1:15: ", ":2:13: ", ":4:14: ", ":5:1: "})
    CHECK(attempt.standard_error.find(file + place) != std::string::npos);
  CHECK(attempt.standard_error.find("did you mean 'runs_queued'?") != std::string::npos);
  CHECK_FALSE(::access(directory.path("run").c_str(), F_OK) == 0);
}

TEST_CASE("an argument wins over the config file") {
  const DaemonDirectory other;
  const DaemonFixture daemon(
      {.config = "runtime_dir = \"" + other.path("elsewhere") + "\"\n[limits]\nruns_alive = 1\n"});
  CHECK(::access(other.path("elsewhere").c_str(), F_OK) != 0);
  CHECK(daemon.get("/health").status == 200);
}

TEST_CASE("a socket path that is too long is one clear error") {
  const DaemonDirectory directory;
  // The path of paddock.sock comes to 120 bytes.
  const std::string base = directory.path("");  // ends in "/"
  const std::string runtime = base + std::string(120 - base.size() - 13, 'd');
  const DaemonAttempt attempt =
      try_daemon({"--runtime-dir", runtime, "--state-dir", directory.path("state")});
  CHECK(attempt.ended.exit_status == 1);
  INFO(attempt.standard_error);
  CHECK(lines_in(attempt.standard_error) == 1);
  CHECK(attempt.standard_error.find("'" + runtime + "/paddock.sock' has 120 bytes") !=
        std::string::npos);
  CHECK(attempt.standard_error.find("at most 107") != std::string::npos);
}

TEST_CASE("a runtime directory that others can enter, or that is a link, is refused") {
  const DaemonDirectory directory;
  directory.make_directory("run", 0755);
  const DaemonAttempt loose = try_daemon(arguments(directory));
  CHECK(loose.ended.exit_status == 1);
  INFO(loose.standard_error);
  CHECK(lines_in(loose.standard_error) == 1);
  CHECK(loose.standard_error.find("'" + directory.path("run") + "'") != std::string::npos);
  CHECK(loose.standard_error.find("chmod 700") != std::string::npos);
  CHECK(mode_of(directory.path("run")) == 0755);

  directory.make_directory("real");
  REQUIRE(::symlink(directory.path("real").c_str(), directory.path("link").c_str()) == 0);
  for (const char* link : {"link", "link/"}) {
    const DaemonAttempt attempt =
        try_daemon({"--runtime-dir", directory.path(link), "--state-dir", directory.path("state")});
    INFO(attempt.standard_error);
    CHECK(attempt.ended.exit_status == 1);
    CHECK(attempt.standard_error.find("is not a directory") != std::string::npos);
  }
}

TEST_CASE("a second daemon on the same socket is refused and the first serves on") {
  const DaemonFixture daemon;
  const DaemonAttempt second = try_daemon({"--runtime-dir", daemon.directory().path("run"),
                                           "--state-dir", daemon.directory().path("other-state")});
  CHECK(second.ended.exit_status == 1);
  INFO(second.standard_error);
  CHECK(second.standard_error.find("'" + daemon.socket() + "' is already in use") !=
        std::string::npos);
  CHECK(daemon.get("/health").json()["status"] == "ok");
}

TEST_CASE("the socket of a daemon that was killed is replaced") {
  const DaemonDirectory directory;
  directory.make_directory("run");
  for (const char* name : {"run/paddock.sock", "run/trainer.sock"}) {
    const paddock::kernel::Fd stale(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = directory.path(name);
    std::copy(path.begin(), path.end(), address.sun_path);
    REQUIRE(::bind(stale.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  const DaemonFixture daemon({.runtime_directory = directory.path("run")});
  CHECK(daemon.get("/health").status == 200);
}

TEST_CASE("a profile directory or file that anybody can write is refused by its name") {
  const DaemonDirectory directory;
  const std::string open = directory.make_directory("open", 0777);
  const DaemonAttempt attempt = try_daemon(arguments(directory, {"--profiles", open}));
  CHECK(attempt.ended.exit_status == 1);
  INFO(attempt.standard_error);
  CHECK(attempt.standard_error.find(open + ": directory may be written by others") !=
        std::string::npos);

  const std::string closed = directory.make_directory("closed", 0755);
  const std::string file = directory.write("closed/x.toml", "name = \"X\"\n", 0666);
  const DaemonAttempt writable = try_daemon(arguments(directory, {"--profiles", closed}));
  CHECK(writable.ended.exit_status == 1);
  CHECK(writable.standard_error.find(file + ": may be written by others") != std::string::npos);
}

TEST_CASE("a profile that is not TOML, or that no run could have, is refused with its place") {
  const DaemonDirectory directory;
  const std::string profiles = directory.make_directory("profiles", 0755);
  const std::string broken = directory.write("profiles/a.toml", "name = \"A\"\n[limits\n");
  const std::string missing = directory.write(
      "profiles/b.toml",
      "name = \"B\"\n[isolation]\nuse_bubblewrap = true\nbind_ro = [\"/no/such/path\"]\n");
  const std::string typo =
      directory.write("profiles/c.toml", "name = \"C\"\n[limits]\nnprok = 5\n");
  const DaemonAttempt attempt = try_daemon(arguments(directory, {"--profiles", profiles}));
  CHECK(attempt.ended.exit_status == 1);
  INFO(attempt.standard_error);
  CHECK(attempt.standard_error.find(broken + ":2:") != std::string::npos);
  CHECK(attempt.standard_error.find(missing + ":4:12: bind_ro '/no/such/path'") !=
        std::string::npos);
  CHECK(attempt.standard_error.find(typo + ":3:1: unknown key 'nprok'") != std::string::npos);
  CHECK(attempt.standard_error.find("did you mean 'nproc'?") != std::string::npos);
  CHECK(::access(directory.path("run/paddock.sock").c_str(), F_OK) != 0);
}

TEST_CASE("a cgroup base that cannot be used is refused with exit code 3") {
  const DaemonDirectory directory;
  const DaemonAttempt attempt =
      try_daemon(arguments(directory, {"--cgroup-base", directory.path()}));
  CHECK(attempt.ended.exit_status == 3);
  CHECK(attempt.standard_error.find("'" + directory.path() + "'") != std::string::npos);
}
