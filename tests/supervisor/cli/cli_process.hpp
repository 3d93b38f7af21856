#pragma once
// The built `paddock` as people run it: with arguments, stdin and an environment, until it ends.

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/fd.hpp"

using Words = std::vector<std::string>;

// Where the test's own input comes from, and its output goes to.
struct CliOptions {
  std::string input{};
  std::map<std::string, std::string> environment{};  // besides a small fixed one
  std::string directory = "/";
  std::vector<int> closed{};  // of 0, 1 and 2
  std::string stdout_path{};  // instead of a pipe: "/dev/full"
};

struct CliEnded {
  int exit_code = -1;  // 128+n for signal n
  std::string out;
  std::string err;
};

class CliProcess {
 public:
  explicit CliProcess(const Words& arguments, CliOptions options = {});
  ~CliProcess();
  CliProcess(const CliProcess&) = delete;
  CliProcess& operator=(const CliProcess&) = delete;

  void signal(int number) const;
  void wait_for_output(std::string_view text);  // fails the test if it does not come
  void close_output() { out_.close(); }
  CliEnded wait();  // reads the rest; fails the test after 60 seconds

 private:
  // Moves what can be moved of all three streams; false when nothing is left to come.
  bool move_streams();

  pid_t pid_ = -1;
  std::string input_;
  paddock::kernel::Fd in_;
  paddock::kernel::Fd out_;
  paddock::kernel::Fd err_;
  CliEnded ended_;
  std::chrono::steady_clock::time_point deadline_;
};

// From start to end. The program is told to use no daemon.
CliEnded run_cli(const Words& arguments, CliOptions options = {});

// True if runs under bubblewrap can work here. Otherwise says why not, and fails the test if
// SANDBOX_MUST_WORK=1.
bool sandbox_works();

// A directory in /var/tmp that goes with all that is in it; mode 0755, so that runs can enter it.
class CliDirectory {
 public:
  CliDirectory();
  ~CliDirectory();
  CliDirectory(const CliDirectory&) = delete;
  CliDirectory& operator=(const CliDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string write(const std::string& name, std::string_view text) const;

 private:
  std::string path_;
};

// How many processes have `marker` among their arguments.
std::size_t processes_with(const std::string& marker);
