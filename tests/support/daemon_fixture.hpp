#pragma once
// The real paddockd, as its clients and its operator meet it: started on a directory of its own,
// spoken to over its sockets, stopped with signals.
//
// The test's process is the subreaper of everything that the daemon starts: whatever survives the
// daemon becomes a child of the test, and the fixture fails the test if there is one.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/daemon_client.hpp"

// A directory in /var/tmp, because nothing in /tmp may be bound into a sandbox. Runs with a host
// uid of their own can pass through it. It goes with all that is in it.
class DaemonDirectory {
 public:
  DaemonDirectory();
  ~DaemonDirectory();
  DaemonDirectory(const DaemonDirectory&) = delete;
  DaemonDirectory& operator=(const DaemonDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string make_directory(const std::string& name, unsigned mode = 0700) const;
  std::string write(const std::string& name, std::string_view text, unsigned mode = 0644) const;

 private:
  std::string path_;
};

struct DaemonOptions {
  std::string config{};                           // TOML of --config; empty: no such file
  std::map<std::string, std::string> profiles{};  // file name -> text; after the shipped ones
  std::map<std::string, std::string> agents{};
  std::map<std::string, std::string> runtimes{};
  std::string runtime_directory{};  // empty: "run" in the fixture's directory
  std::vector<std::pair<std::string, std::string>> environment{};
  std::function<void()> in_child{};  // between fork and exec
};

// How a process ended.
struct Ended {
  int exit_status = -1;  // 0..255, or -1
  int signal = 0;        // or 0
};

class DaemonFixture {
 public:
  // Starts the daemon and waits until it answers /health; fails the test if it does not.
  explicit DaemonFixture(DaemonOptions options = {});
  // Stops it, checks that it ended well and that nothing of it is left.
  ~DaemonFixture();
  DaemonFixture(const DaemonFixture&) = delete;
  DaemonFixture& operator=(const DaemonFixture&) = delete;

  // Another daemon in the place of one that has ended, with the same arguments.
  void start_again();
  // The same, of one that may be gone before it answers: then how it ended.
  std::optional<Ended> try_to_start_again();

  const DaemonDirectory& directory() const { return directory_; }
  std::string socket() const { return runtime_directory_ + "/paddock.sock"; }
  std::string trainer_socket() const { return runtime_directory_ + "/trainer.sock"; }
  std::string log() const;
  pid_t pid() const { return pid_; }

  HttpReply get(std::string_view target) const { return http(socket(), "GET", target); }
  HttpReply post(std::string_view target, const nlohmann::json& body = nullptr) const {
    return http(socket(), "POST", target, body);
  }
  HttpReply remove(std::string_view target) const { return http(socket(), "DELETE", target); }

  // POST /v1/runs that waits: the finished run. Fails the test if the answer is not 200.
  nlohmann::json run(const nlohmann::json& request) const;
  // POST /v1/verify at the trainer's socket: the whole answer. Fails the test if it is not 200.
  nlohmann::json verify(const nlohmann::json& request) const;
  // POST /v1/runs with detach: the id.
  std::string start(nlohmann::json request) const;
  // The run when it is finished, or after 20 seconds as it is.
  nlohmann::json finished(const std::string& id) const;
  // Waits until the run's program has started.
  void wait_until_started(const std::string& id) const;

  // One value of /health; 0 if the daemon does not answer.
  nlohmann::json health(const std::string& key) const;
  void signal(int number) const;
  // Fails the test if the daemon is still there after `limit`. The destructor then only looks for
  // survivors, and asks no more for an exit status of 0.
  Ended wait_for_end(std::chrono::milliseconds limit = std::chrono::seconds(20));

 private:
  std::optional<Ended> wait_until_healthy();  // or how it ended
  void stop();

  DaemonDirectory directory_;
  std::string runtime_directory_;
  std::vector<std::string> arguments_;
  DaemonOptions options_;
  pid_t pid_ = -1;
};

// A daemon that is expected to refuse to start, or to do no more than print: it is waited for.
struct DaemonAttempt {
  Ended ended;
  std::string standard_output;
  std::string standard_error;
};
DaemonAttempt try_daemon(const std::vector<std::string>& arguments,
                         const std::vector<std::pair<std::string, std::string>>& environment = {});

// The files beside the test's executable: "paddockd".
std::string program_path(const std::string& name);

// A word that no other process has in its arguments.
std::string unique_marker();
// The processes that have `marker` among their arguments.
std::vector<pid_t> processes_with(const std::string& marker);
// Waits until `condition` holds; false if it does not within `limit`.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = std::chrono::seconds(10));

// A shell command that sleeps and has `marker` in its arguments.
std::string marked_sleeper(const std::string& marker);

// A request for "/bin/sh -c SCRIPT".
nlohmann::json shell(const std::string& script, const std::string& profile = "OFF");

// True if runs under bubblewrap can work here. Otherwise says why not and fails the test if
// SANDBOX_MUST_WORK=1.
bool sandbox_works();
// True for root; otherwise says that the test was left out.
bool is_root();
