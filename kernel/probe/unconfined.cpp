#include "kernel/probe/unconfined.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "kernel/confine/host.hpp"

namespace paddock::kernel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t program_output_bytes_max = 64 * 1024;
constexpr std::chrono::seconds output_time_max{10};

// After a fork: no allocation, no lock.
[[noreturn]] void become(int program, char* const* argv, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ::setsid();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::geteuid() == 0 && (::syscall(SYS_setgroups, 0, nullptr) != 0 ||
                           ::syscall(SYS_setresgid, nobody, nobody, nobody) != 0 ||
                           ::syscall(SYS_setresuid, nobody, nobody, nobody) != 0))
    ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // a change of uid clears it
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (::dup2(null, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(null, 2) < 0 || ::chdir("/") != 0)
    ::_exit(126);
  ::syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
  char* const environment[] = {nullptr};
  if (program >= 0) {
    ::syscall(SYS_execveat, program, "", argv, environment, AT_EMPTY_PATH);
  } else {
    ::execve(argv[0], argv, environment);
  }
  ::_exit(127);
}

// The first word of `command` that begins with `prefix`; empty if none does.
std::string_view word_with(std::string_view command, std::string_view prefix) {
  while (!command.empty()) {
    const std::string_view word = command.substr(0, command.find('\0'));
    if (word.starts_with(prefix)) return word;
    command.remove_prefix(std::min(word.size() + 1, command.size()));
  }
  return {};
}

}  // namespace

Result<UnconfinedProcess> UnconfinedProcess::start(int program,
                                                   const std::vector<std::string>& argv) {
  Pipe output = TRY(make_pipe());
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) become(program, words.data(), output.write_end.get());
  return UnconfinedProcess(pid, std::move(output.read_end));
}

UnconfinedProcess::~UnconfinedProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string UnconfinedProcess::read_to_end() {
  const Clock::time_point deadline = Clock::now() + output_time_max;
  std::string text;
  while (text.size() < program_output_bytes_max) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd polled{output_.get(), POLLIN, 0};
    if (left <= 0 || ::poll(&polled, 1, static_cast<int>(left)) == 0) return text;
    char buffer[4096];
    const ssize_t count = ::read(output_.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<MarkedProcess> processes_marked(const std::string& prefix) {
  std::vector<MarkedProcess> found;
  DIR* const proc = ::opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
    char command[512];
    const ssize_t size = file ? ::read(file.get(), command, sizeof command) : -1;
    if (size <= 0) continue;
    const std::string_view mark = word_with({command, static_cast<std::size_t>(size)}, prefix);
    if (!mark.empty()) found.push_back({pid, std::string(mark)});
  }
  ::closedir(proc);
  return found;
}

}  // namespace paddock::kernel
