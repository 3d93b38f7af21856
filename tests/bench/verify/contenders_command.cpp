#include <fcntl.h>

#include <sstream>

#include "bench/verify/contender.hpp"
#include "bench/verify/cpu.hpp"
#include "kernel/base/fd.hpp"

namespace bench {
namespace {

using paddock::kernel::Fd;
using Command = std::vector<std::string>;

constexpr std::size_t output_kept_bytes = 2000;

struct Ended {
  int status = 0;
  std::string output;
};

// What it prints is captured, as a checker does.
Ended run_captured(Command command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/bin:/bin";
  char home[] = "HOME=/tmp";
  char lang[] = "LANG=C.UTF-8";
  char* environment[] = {path, home, lang, nullptr};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) give_up("pipe2");
  const Fd output(ends[0]);
  Fd its_end(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, its_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, its_end.get(), STDERR_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environment);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) give_up("cannot start " + command[0]);
  its_end.close();
  Ended ended;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(output.get(), buffer, sizeof buffer)) > 0;)
    if (ended.output.size() < output_kept_bytes)
      ended.output.append(buffer, static_cast<std::size_t>(count));
  ::waitpid(pid, &ended.status, 0);
  return ended;
}

std::string told(const Ended& ended) {
  return "wait status " + std::to_string(ended.status) + ": " + ended.output;
}

using Programs = std::shared_ptr<std::vector<std::string>>;

class CommandWorker : public Worker {
 public:
  CommandWorker(Command command, Programs programs)
      : command_(std::move(command)), programs_(std::move(programs)) {}
  bool judge(std::size_t problem) override {
    Command command = command_;
    command.push_back((*programs_)[problem]);
    ended_ = run_captured(std::move(command));
    return ended_.status == 0;
  }
  std::string why() const override { return told(ended_); }

 private:
  Command command_;
  Programs programs_;
  Ended ended_;
};

// A fresh box for each program, as the others' are. Its boxes have numbers.
class IsolateWorker : public Worker {
 public:
  IsolateWorker(std::string isolate, int slot, Programs programs)
      : isolate_(std::move(isolate)), box_(std::to_string(slot)), programs_(std::move(programs)) {}
  ~IsolateWorker() override { run_captured({isolate_, "--cleanup", "-b", box_}); }
  IsolateWorker(const IsolateWorker&) = delete;
  IsolateWorker& operator=(const IsolateWorker&) = delete;

  bool judge(std::size_t problem) override {
    for (const Command& command :
         {Command{isolate_, "--init", "-b", box_},
          Command{isolate_, "--run", "-s", "-b", box_, "--time=10", "--wall-time=10",
                  "--processes=16", "--", "/usr/bin/python3", "-c", (*programs_)[problem]},
          Command{isolate_, "--cleanup", "-b", box_}}) {
      ended_ = run_captured(command);
      if (ended_.status != 0) return false;
    }
    return true;
  }
  std::string why() const override { return told(ended_); }

 private:
  std::string isolate_;
  std::string box_;
  Programs programs_;
  Ended ended_;
};

// Absolute, or empty.
std::string find_program(const std::string& name, const ContenderOptions& options) {
  std::stringstream directories(options.competitors +
                                "/bin:/usr/bin:/usr/sbin:/bin:/usr/local/bin");
  for (std::string directory; std::getline(directories, directory, ':');)
    if (const std::string path = directory + "/" + name; ::access(path.c_str(), X_OK) == 0)
      return path;
  return "";
}

Command with(Command command, const Command& more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

Command bubblewrap(const std::string& path) {
  return {path,
          "--unshare-all",
          "--die-with-parent",
          "--new-session",
          "--ro-bind",
          "/usr",
          "/usr",
          "--ro-bind-try",
          "/bin",
          "/bin",
          "--ro-bind-try",
          "/lib",
          "/lib",
          "--ro-bind-try",
          "/lib64",
          "/lib64",
          "--proc",
          "/proc",
          "--dev",
          "/dev",
          "--tmpfs",
          "/tmp",
          "--chdir",
          "/tmp",
          "--cap-drop",
          "ALL",
          "--"};
}

Command nsjail(const std::string& path) {
  return {path,
          "-Mo",
          "-Q",
          "-t",
          "10",
          "-R",
          "/usr",
          "-R",
          "/lib",
          "-R",
          "/lib64",
          "-R",
          "/bin",
          "-R",
          "/dev/urandom",
          "-B",
          "/dev/null",
          "-T",
          "/tmp",
          "--cwd",
          "/tmp",
          "-E",
          "PATH=/usr/bin:/bin",
          "--rlimit_as",
          "512",
          "--"};
}

Command firejail(const std::string& path) {
  return {path,
          "--quiet",
          "--noprofile",
          "--net=none",
          "--private",
          "--private-dev",
          "--private-tmp",
          "--caps.drop=all",
          "--seccomp",
          "--nonewprivs",
          "--"};
}

}  // namespace

std::vector<Contender> command_contenders(const ContenderOptions& options,
                                          const std::vector<Problem>& problems) {
  const auto programs = std::make_shared<std::vector<std::string>>();
  for (const Problem& problem : problems) programs->push_back(problem.program);
  const Command python = {"/usr/bin/python3", "-c"};
  const Command lean_python = {"/usr/bin/python3", "-I", "-S", "-c"};
  const auto plain = [&](const std::string& name, const Command& command) {
    return Contender{
        name,
        [command, programs](int) { return std::make_unique<CommandWorker>(command, programs); }, "",
        waited_children_cpu_us};
  };
  std::vector<Contender> all = {plain("posix_spawn python3 -c", python),
                                plain("posix_spawn python3 -I -S -c", lean_python)};
  const auto add = [&](const std::string& program, Command (*command)(const std::string&),
                       bool lean_too) {
    const std::string path = find_program(program, options);
    const auto contender = [&](const std::string& name, const Command& interpreter) {
      return path.empty() ? Contender{name, {}, "not installed"}
                          : plain(name, with(command(path), interpreter));
    };
    all.push_back(contender(program + " python3 -c", python));
    if (lean_too) all.push_back(contender(program + " python3 -I -S -c", lean_python));
  };
  add("bwrap", bubblewrap, true);
  add("nsjail", nsjail, false);
  add("firejail", firejail, false);

  const std::string isolate = find_program("isolate", options);
  Contender isolating{
      "isolate python3 -c", {}, isolate.empty() ? "not installed" : "", waited_children_cpu_us};
  if (!isolate.empty())
    isolating.worker = [isolate, programs](int slot) {
      return std::make_unique<IsolateWorker>(isolate, slot, programs);
    };
  all.push_back(std::move(isolating));
  return all;
}

}  // namespace bench
