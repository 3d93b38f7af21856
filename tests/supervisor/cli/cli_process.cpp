#include "cli_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "kernel/confine/host.hpp"
#include "support/catch.hpp"

using paddock::kernel::Fd;
using std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds wait_max{60};

std::string program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "paddock").string();
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_of(const CliOptions& options) {
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8"};
  for (const std::string name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TMPDIR"}) {
    const char* value = std::getenv(name.c_str());
    if (value != nullptr && !options.environment.contains(name))
      variables.push_back(name + "=" + value);
  }
  for (const auto& [name, value] : options.environment) variables.push_back(name + "=" + value);
  return variables;
}

}  // namespace

CliProcess::CliProcess(const Words& arguments, CliOptions options)
    : input_(std::move(options.input)), deadline_(steady_clock::now() + wait_max) {
  ::signal(SIGPIPE, SIG_IGN);  // it may not read all of its input
  auto input = paddock::kernel::make_pipe().value();
  auto output = paddock::kernel::make_pipe().value();
  auto errors = paddock::kernel::make_pipe().value();
  if (!options.stdout_path.empty())
    output.write_end = Fd(::open(options.stdout_path.c_str(), O_WRONLY | O_CLOEXEC));
  std::vector<std::string> words = {program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_of(options);
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(variables);

  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
    ::dup2(input.read_end.get(), 0);
    ::dup2(output.write_end.get(), 1);
    ::dup2(errors.write_end.get(), 2);
    for (const int fd : options.closed) ::close(fd);
    if (::chdir(options.directory.c_str()) == 0) ::execve(argv[0], argv.data(), envp.data());
    ::_exit(99);
  }
  in_ = std::move(input.write_end);
  out_ = std::move(output.read_end);
  err_ = std::move(errors.read_end);
  ::fcntl(in_.get(), F_SETFL, O_NONBLOCK);
}

CliProcess::~CliProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void CliProcess::signal(int number) const {
  REQUIRE(::kill(pid_, number) == 0);
}

bool CliProcess::move_streams() {
  if (input_.empty()) in_.close();
  if (!out_ && !err_) return false;
  pollfd polled[] = {{in_.get(), POLLOUT, 0}, {out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
  ::poll(polled, std::size(polled), 100);
  if (in_ && polled[0].revents != 0) {
    const ssize_t count = ::write(in_.get(), input_.data(), input_.size());
    if (count < 0 && errno == EAGAIN) return true;
    // It does not want the rest.
    if (count < 0) input_.clear();
    if (count > 0) input_.erase(0, static_cast<std::size_t>(count));
  }
  const auto take = [](Fd& fd, short events, std::string& text) {
    if (!fd || events == 0) return;
    char buffer[65536];
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count <= 0) return fd.close();
    text.append(buffer, static_cast<std::size_t>(count));
  };
  take(out_, polled[1].revents, ended_.out);
  take(err_, polled[2].revents, ended_.err);
  return true;
}

void CliProcess::wait_for_output(std::string_view text) {
  while (ended_.out.find(text) == std::string::npos) {
    REQUIRE(steady_clock::now() < deadline_);
    REQUIRE(move_streams());
  }
}

CliEnded CliProcess::wait() {
  while (move_streams()) {
    INFO("stdout: " << ended_.out.substr(0, 1000) << "\nstderr: " << ended_.err);
    REQUIRE(steady_clock::now() < deadline_);
  }
  int status = 0;
  REQUIRE(::waitpid(std::exchange(pid_, -1), &status, 0) > 0);
  ended_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended_;
}

CliEnded run_cli(const Words& arguments, CliOptions options) {
  Words words = {"--embedded"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return CliProcess(words, std::move(options)).wait();
}

bool sandbox_works() {
  static const paddock::kernel::HostFacts host = paddock::kernel::detect_host();
  if (!host.bubblewrap.empty() && host.user_namespaces) return true;
  const std::string reason =
      host.user_namespaces ? host.bubblewrap_problem : host.user_namespaces_problem;
  std::cout << "UNSUPPORTED: " << reason << "\n";
  const char* must_work = std::getenv("SANDBOX_MUST_WORK");
  if (must_work != nullptr && std::string_view(must_work) == "1")
    FAIL("sandboxes must work here, and: " << reason);
  return false;
}

CliDirectory::CliDirectory() {
  char name[] = "/var/tmp/paddock-cli-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  path_ = name;
  REQUIRE(::chmod(name, 0755) == 0);
}

CliDirectory::~CliDirectory() {
  std::filesystem::remove_all(path_);
}

std::string CliDirectory::write(const std::string& name, std::string_view text) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  REQUIRE(::chmod(path.c_str(), 0644) == 0);
  return path;
}

std::size_t processes_with(const std::string& marker) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (text.str().find(marker) != std::string::npos) ++count;
  }
  return count;
}
