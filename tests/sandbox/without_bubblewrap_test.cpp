// A host without bubblewrap: profiles without it work, STRICT is refused and nothing runs.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "kernel/base/fd.hpp"
#include "kernel/policy/scratch_directory.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

bool write_text(const char* path, const std::string& text) {
  const Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A mount namespace in which bwrap is a file that nobody can execute.
bool hide_bubblewrap(const std::string& empty_file) {
  const std::string uid = std::to_string(::geteuid());
  const std::string gid = std::to_string(::getegid());
  if (!is_root()) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (!write_text("/proc/self/setgroups", "deny") ||
        !write_text("/proc/self/uid_map", uid + " " + uid + " 1") ||
        !write_text("/proc/self/gid_map", gid + " " + gid + " 1"))
      return false;
  } else if (::unshare(CLONE_NEWNS) != 0) {
    return false;
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}) {
    if (::access(path, X_OK) != 0) continue;
    if (::mount(empty_file.c_str(), path, nullptr, MS_BIND, nullptr) != 0) return false;
  }
  return true;
}

std::string describe(const Result<SandboxResult>& result) {
  if (!result) return std::string(name_of(result.error().code)) + ": " + result.error().message;
  return std::string(name_of(result->cause)) + " " + std::to_string(result->exit_code) + " " +
         one_line(result->stdout) + result->detail;
}

// What each of the policies comes to on a host without bubblewrap, a line each.
std::string outcomes_without_bubblewrap(const std::vector<SandboxPolicy>& policies,
                                        const Argv& argv) {
  const ScratchDirectory scratch;
  ScratchDirectory::set_mode(scratch.path(), 0755);
  const std::string empty_file = scratch.file("empty", "");
  auto pipe = make_pipe();
  REQUIRE(pipe);
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::string text;
    if (!hide_bubblewrap(empty_file)) text = "cannot hide bubblewrap";
    for (const SandboxPolicy& policy : policies) {
      if (text == "cannot hide bubblewrap") break;
      text += describe(run_sandboxed(argv, policy)) + "\n";
    }
    [[maybe_unused]] const ssize_t told = ::write(pipe->write_end.get(), text.data(), text.size());
    ::_exit(0);
  }
  pipe->write_end.close();
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::read(pipe->read_end.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(count));
  ::waitpid(pid, nullptr, 0);
  return text;
}

}  // namespace

TEST_CASE("without bubblewrap OFF and DEFAULT work and STRICT is refused") {
  const ScratchDirectory scratch;
  ScratchDirectory::set_mode(scratch.path(), 0777);
  const std::string canary = scratch.path() + "/ran";
  SandboxPolicy strict = policy_of("STRICT");
  strict.bind_rw = {scratch.path()};
  const std::string text =
      outcomes_without_bubblewrap({policy_of("OFF"), policy_of("DEFAULT")}, {"echo", "ran"});
  NEEDS(text != "cannot hide bubblewrap", "a mount namespace cannot be made here");
  CHECK(text == "exited 0 ran\nexited 0 ran\n");

  CHECK(outcomes_without_bubblewrap({strict}, {"touch", canary}) ==
        "sandbox_not_available: profile 'STRICT' requires bubblewrap: bubblewrap is not installed; "
        "install the package 'bubblewrap'\n");
  CHECK_FALSE(std::filesystem::exists(canary));
}

TEST_CASE("without bubblewrap the limits of DEFAULT hold") {
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.nofile = 20;
  const std::string text = outcomes_without_bubblewrap({policy}, {program("open_files")});
  NEEDS(text != "cannot hide bubblewrap", "a mount namespace cannot be made here");
  CHECK(text == "exited 0 20 EMFILE\n");
}
