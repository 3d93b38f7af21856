#include "supervisor/cli/temporary_daemon.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernel/base/executable.hpp"
#include "supervisor/cli/client.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds start_time_max{60'000};  // it tries each profile first
constexpr std::chrono::milliseconds end_time_max{10'000};
constexpr int look_pause_ms = 5;

std::vector<std::string> arguments_of(const GlobalOptions& options, const std::string& directory) {
  std::vector<std::string> words = {kernel::executable_directory() + "/paddockd", "--runtime-dir",
                                    directory + "/run", "--state-dir", directory + "/state"};
  for (const std::string& profiles : options.profiles) {
    words.push_back("--profiles");
    words.push_back(profiles);
  }
  for (const std::string& agents : options.agents) {
    words.push_back("--agents");
    words.push_back(agents);
  }
  if (!options.cgroup_base.empty()) {
    words.push_back("--cgroup-base");
    words.push_back(options.cgroup_base);
  }
  return words;
}

std::string log_of(const std::string& directory) {
  return directory + "/paddockd.log";
}

// What it said last: why it did not start.
std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) last = line;
  return last.empty() ? "it said nothing" : last;
}

// In the child: nothing but calls that a forked process may make.
[[noreturn]] void become_daemon(char* const* argv, const char* log, pid_t parent) {
  ::setpgid(0, 0);  // Ctrl-C is for the command, which ends it
  ::prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  if (::getppid() != parent) ::_exit(1);
  ::dup2(::open("/dev/null", O_RDWR | O_CLOEXEC), STDIN_FILENO);
  const int out = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execv(argv[0], argv);
  ::_exit(127);
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

}  // namespace

Result<TemporaryDaemon> TemporaryDaemon::start(const GlobalOptions& options) {
  const std::string program = kernel::executable_directory() + "/paddockd";
  if (::access(program.c_str(), X_OK) != 0) return kernel::fail_errno("execute '" + program + "'");
  std::error_code error;
  const std::string base = std::filesystem::temp_directory_path(error).string();
  std::string directory = (error ? "/tmp" : base) + "/paddock-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) return kernel::fail_errno("make " + directory);
  std::vector<std::string> words = arguments_of(options, directory);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log = log_of(directory);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    auto failure = kernel::fail_errno("fork");
    std::filesystem::remove_all(directory, error);
    return failure;
  }
  if (pid == 0) become_daemon(argv.data(), log.c_str(), parent);
  TemporaryDaemon daemon(std::move(directory), pid);
  TRY_VOID(daemon.wait_until_it_serves());
  return daemon;
}

Result<void> TemporaryDaemon::wait_until_it_serves() const {
  const Clock::time_point deadline = Clock::now() + start_time_max;
  while (Clock::now() < deadline && !has_ended(pid_)) {
    auto client = Client::connect(socket());
    if (!client && client.error().code != ErrorCode::not_found)
      return tl::unexpected<kernel::Error>(client.error());
    if (client && client->request("GET", "/healthz", {}, start_time_max)) return {};
    ::poll(nullptr, 0, look_pause_ms);
  }
  return fail(ErrorCode::io, "paddockd does not start: " + last_line(log_of(directory_)));
}

void TemporaryDaemon::end() {
  if (pid_ < 0) return;
  const Clock::time_point deadline = Clock::now() + end_time_max;
  // The first drains, the second kills what runs.
  ::kill(pid_, SIGTERM);
  ::kill(pid_, SIGTERM);
  while (!has_ended(pid_) && Clock::now() < deadline) ::poll(nullptr, 0, look_pause_ms);
  // Its runs die with it: their launchers see it go.
  if (!has_ended(pid_)) ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
  pid_ = -1;
}

TemporaryDaemon::~TemporaryDaemon() {
  end();
}

TemporaryDaemon::TemporaryDaemon(TemporaryDaemon&& other) noexcept
    : directory_(std::move(other.directory_)), pid_(std::exchange(other.pid_, -1)) {}

}  // namespace paddock::supervisor::cli
