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

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

namespace paddock::kernel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uid_t nobody = 65534;
constexpr std::size_t output_bytes_max = 64 * 1024;
constexpr std::size_t command_bytes_max = 64 * 1024;
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

bool has_word(const std::string& command, const std::string& mark) {
  for (std::size_t begin = 0; begin < command.size();) {
    const std::size_t end = std::min(command.find('\0', begin), command.size());
    if (command.compare(begin, end - begin, mark) == 0) return true;
    begin = end + 1;
  }
  return false;
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
  while (text.size() < output_bytes_max) {
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

std::vector<pid_t> processes_marked(const std::string& mark) {
  std::vector<pid_t> found;
  DIR* const proc = ::opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const auto command = read_file("/proc/" + std::to_string(pid) + "/cmdline", command_bytes_max);
    if (command && has_word(*command, mark)) found.push_back(pid);
  }
  ::closedir(proc);
  return found;
}

}  // namespace paddock::kernel
