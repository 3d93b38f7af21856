#include "support/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/daemon_fixture.hpp"

Finished run_program(const std::string& name, const std::vector<std::string>& arguments) {
  const DaemonDirectory directory;
  const std::string program = program_path(name);
  const std::string out = directory.write("out", "", 0600);
  const std::string err = directory.write("err", "", 0600);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(::open(out.c_str(), O_WRONLY), 1);
    ::dup2(::open(err.c_str(), O_WRONLY), 2);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  if (!eventually([&] { return ::waitpid(pid, &status, WNOHANG) == pid; },
                  std::chrono::seconds(30))) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    FAIL(name << " did not end");
  }
  constexpr std::size_t bytes_max = 1u << 20;
  return {.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .standard_output = paddock::kernel::read_file(out, bytes_max).value_or(""),
          .standard_error = paddock::kernel::read_file(err, bytes_max).value_or("")};
}
