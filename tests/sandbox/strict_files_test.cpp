// The file system under STRICT: what can be written, how much, and what cannot be seen.

#include <fcntl.h>
#include <sys/stat.h>

#include "kernel/base/fd.hpp"
#include "kernel/policy/scratch_directory.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

std::string attempt(const SandboxPolicy& policy, const Argv& argv) {
  return one_line(run(policy, argv).stdout);
}

}  // namespace

TEST_CASE("STRICT's root, its devices and what is bound from the host are read-only") {
  const SandboxPolicy policy = policy_of("STRICT");
  const std::string open_path = program("open_path");
  for (const char* path : {"/new", "/etc/new", "/run/new", "/var/new", "/home/new", "/usr/new",
                           "/usr/bin/new", "/bin/new", "/dev/new"}) {
    INFO(path);
    CHECK(attempt(policy, {open_path, "create", path}) == "EROFS");
  }
  CHECK(attempt(policy, {open_path, "create", policy.bind_ro.back() + "/new"}) == "EROFS");
  CHECK(attempt(policy, {open_path, "write", "/usr/bin/env"}) != "ok");
  CHECK(attempt(policy, {open_path, "write", "/etc/passwd"}) != "ok");
}

TEST_CASE("STRICT's writable places are writable, and each has its size") {
  // Method: fill each of them to its end.
  SandboxPolicy policy = policy_of("STRICT");
  policy.tmp_bytes = 4u << 20;
  policy.workspace_bytes = 8u << 20;
  const std::vector<std::pair<std::string, std::uint64_t>> places = {
      {"/tmp", policy.tmp_bytes},
      {"/dev/shm", policy.tmp_bytes},
      {"/home/agent", policy.tmp_bytes},
      {"/workspace", policy.workspace_bytes}};
  for (const auto& [place, size] : places) {
    INFO(place);
    const SandboxResult result = run(policy, {program("fill_file"), place + "/file"});
    std::istringstream words(result.stdout);
    std::uint64_t bytes = 0;
    std::string error;
    words >> bytes >> error;
    CHECK(error == "ENOSPC");
    CHECK(bytes <= size);
    CHECK(bytes > size - size / 8);
  }
}

TEST_CASE("a run under STRICT cannot read the secrets in a home on the host") {
  // Method: the same uid reads them without a sandbox, which proves that the attempt can succeed.
  const ScratchDirectory home;
  ScratchDirectory::set_mode(home.path(), 0755);
  const std::string ssh = home.directory(".ssh");
  const std::string key = home.file(".ssh/id_rsa", "canary");
  CHECK(attempt(policy_of("OFF"), {program("open_path"), "read", key}) == "ok");
  CHECK(attempt(policy_of("OFF"), {"cat", key}) == "canary");
  CHECK(attempt(policy_of("STRICT"), {program("open_path"), "read", key}) == "ENOENT");
  for (const std::string hidden : {"/root", "/home/agent/.ssh", "/etc/shadow", "/var/lib", "/sys",
                                   "/run/user", "/boot", "/srv", "/opt"}) {
    INFO(hidden);
    CHECK(attempt(policy_of("STRICT"), {program("open_path"), "read", hidden}) == "ENOENT");
  }
}

TEST_CASE("a read-only bind can be read and not written, a writable one both") {
  const ScratchDirectory scratch;
  ScratchDirectory::set_mode(scratch.path(), 0755);
  const std::string shown = scratch.directory("shown");
  const std::string shared = scratch.directory("shared");
  scratch.file("shown/file", "text");
  scratch.file("hidden", "text");
  // Whatever uid the run has: a run started as root has one of its own.
  ScratchDirectory::set_mode(shown, 0777);
  ScratchDirectory::set_mode(shared, 0777);
  SandboxPolicy policy = policy_of("STRICT");
  policy.bind_ro.push_back(shown);
  policy.bind_rw.push_back(shared);
  CHECK(attempt(policy, {"cat", shown + "/file"}) == "text");
  CHECK(attempt(policy, {program("open_path"), "create", shown + "/new"}) == "EROFS");
  CHECK(attempt(policy, {program("open_path"), "create", shared + "/new"}) == "ok");
  CHECK(std::filesystem::exists(shared + "/new"));
  CHECK(attempt(policy, {program("open_path"), "read", scratch.path() + "/hidden"}) == "ENOENT");
}

TEST_CASE("a link that a run plants in a writable bind leads to nothing outside") {
  const ScratchDirectory scratch;
  ScratchDirectory::set_mode(scratch.path(), 0755);
  const std::string canary = scratch.file("canary", "text");
  const std::string shared = scratch.directory("shared");
  ScratchDirectory::set_mode(shared, 0777);
  SandboxPolicy policy = policy_of("STRICT");
  policy.bind_rw.push_back(shared);
  const std::string link = "ln -s ../canary " + shared + "/link && ";
  CHECK(attempt(policy, {"sh", "-c", link + "cat " + shared + "/link || echo refused"}) ==
        "refused");
}

TEST_CASE("host-wide files of /proc are hidden under STRICT") {
  for (const char* path : {"/proc/kallsyms", "/proc/keys", "/proc/interrupts"}) {
    INFO(path);
    const std::string answer = attempt(policy_of("STRICT"), {program("open_path"), "read", path});
    CHECK((answer == "EACCES" || answer == "ENOENT"));
  }
}

TEST_CASE("a bind that is not there refuses the run before anything starts") {
  SandboxPolicy policy = policy_of("STRICT");
  policy.bind_ro.emplace_back("/nonexistent");
  const auto result = paddock::kernel::check_policy(policy);
  REQUIRE_FALSE(result);
  CHECK(result.error() ==
        Error{ErrorCode::sandbox_policy_error, "bind_ro '/nonexistent' does not exist"});
}

TEST_CASE("a bind below a writable one is refused, so nothing is ever mounted through a link") {
  const ScratchDirectory scratch;
  const std::string shared = scratch.directory("shared");
  const std::string below = scratch.directory("shared/below");
  SandboxPolicy policy = policy_of("STRICT");
  policy.bind_rw = {shared};
  policy.bind_ro.push_back(below);
  const auto result = paddock::kernel::check_policy(policy);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::sandbox_policy_error);
}

TEST_CASE("a run cannot write to a FIFO in a directory that is bound read-only") {
  // A read-only mount does not keep it from that, and two runs with one FIFO have a channel.
  SandboxPolicy policy = policy_of("STRICT");
  NEEDS(Sandbox::open({}).value().host().landlock_abi >= policy.landlock.abi, no_landlock);
  const ScratchDirectory scratch;  // below /var/tmp, where a run has a directory of its own
  ScratchDirectory::set_mode(scratch.path(), 0755);
  const std::string fifo = scratch.path() + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0666) == 0);
  ScratchDirectory::set_mode(fifo, 0666);
  const Fd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  policy.bind_ro.push_back(scratch.path());
  CHECK(attempt(policy, {program("open_path"), "write", fifo}) == "EACCES");
  policy.landlock.use = LandlockUse::never;
  CHECK(attempt(policy, {program("open_path"), "write", fifo}) == "ok");
}
