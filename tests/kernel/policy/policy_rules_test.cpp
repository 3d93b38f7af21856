// check_policy: each rule refuses what it should, by name, and nothing else.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <limits>

#include "kernel/base/fd.hpp"
#include "kernel/policy/policy.hpp"
#include "scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

SandboxPolicy strict_policy() {
  SandboxPolicy policy;
  policy.profile = "STRICT";
  policy.use_bubblewrap = true;
  policy.deny_network = true;
  policy.bind_ro = {"/usr"};
  return policy;
}

std::string refusal(const SandboxPolicy& policy) {
  const auto checked = check_policy(policy);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == ErrorCode::sandbox_policy_error);
  return checked.error().message;
}

std::string refusal_of_bind_ro(const std::string& path) {
  SandboxPolicy policy = strict_policy();
  policy.bind_ro = {path};
  return refusal(policy);
}

std::string refusal_of_bind_rw(const std::string& path) {
  SandboxPolicy policy = strict_policy();
  policy.bind_rw = {path};
  return refusal(policy);
}

}  // namespace

TEST_CASE("the policy that limits nothing and a strict one are both valid") {
  CHECK(check_policy(SandboxPolicy{}));
  CHECK(check_policy(strict_policy()));
}

TEST_CASE("a limit of zero is refused; a core size of zero is not") {
  SandboxPolicy policy;
  policy.cpu_seconds = 0;
  CHECK(refusal(policy) == "cpu_seconds is 0, at least 1");
  policy = {};
  policy.nproc = 0;
  CHECK(refusal(policy) == "nproc is 0, at least 1");
  policy = {};
  policy.cgroup.pids_max = 0;
  CHECK(refusal(policy) == "pids_max is 0, at least 1");
  policy = {};
  policy.output_bytes = 0;
  CHECK(refusal(policy) == "output_bytes is 0, at least 1");
  policy = {};
  policy.output_stop_bytes = 0;
  CHECK(refusal(policy) == "output_stop_bytes is 0, at least 1");
  policy.output_stop_bytes = 1;  // less than output_bytes: nothing is ever dropped
  CHECK(check_policy(policy));
  policy = strict_policy();
  policy.tmp_bytes = 0;  // tmpfs would read it as "no limit"
  CHECK(refusal(policy) == "tmp_bytes is 0, at least 1");
  policy = {};
  policy.core_size = 0;
  CHECK(check_policy(policy));
}

TEST_CASE("a number that the kernel reads as infinity is refused") {
  constexpr auto infinity = std::numeric_limits<std::uint64_t>::max();
  SandboxPolicy policy;
  policy.memory_bytes = infinity;
  CHECK(refusal(policy).find("memory_bytes is 18446744073709551615, at most ") == 0);
  policy = {};
  policy.core_size = infinity;
  CHECK(refusal(policy).find("core_size ") == 0);
  policy = strict_policy();
  policy.workspace_bytes = infinity;
  CHECK(refusal(policy).find("workspace_bytes ") == 0);
  policy = {};
  policy.cgroup.memory_max = infinity;
  CHECK(refusal(policy).find("memory_max ") == 0);
}

TEST_CASE("times have a least and a most") {
  SandboxPolicy policy;
  policy.wall_clock = 0ms;
  CHECK(refusal(policy) == "wall_seconds is below 1ms");
  policy.wall_clock = 367 * 24h;
  CHECK(refusal(policy).find("wall_seconds is above ") == 0);
  policy = {};
  policy.grace = 0ms;
  CHECK(refusal(policy) == "grace_seconds is below 1ms");
  policy.grace = 2h;
  CHECK(refusal(policy) == "grace_seconds is above 3600s");
}

TEST_CASE("cpu_max is a number of cores") {
  SandboxPolicy policy;
  policy.cgroup.cpu_max = 0.5;
  CHECK(check_policy(policy));
  for (const double cores : {0.0, -1.0, 0.001, 1e9, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    CAPTURE(cores);
    policy.cgroup.cpu_max = cores;
    CHECK(refusal(policy).find("cpu_max is ") == 0);
  }
}

TEST_CASE("a cgroup limit without a cgroup is refused") {
  SandboxPolicy policy;
  policy.cgroup.use = CgroupUse::never;
  CHECK(check_policy(policy));
  policy.cgroup.memory_max = 1u << 30;
  CHECK(refusal(policy) == "memory_max has no effect with use = \"never\"");
}

TEST_CASE("isolation without bubblewrap is refused") {
  SandboxPolicy policy;
  policy.deny_network = true;
  CHECK(refusal(policy) == "deny_network needs use_bubblewrap = true");
  policy = {};
  policy.bind_ro = {"/usr"};
  CHECK(refusal(policy) == "bind_ro needs use_bubblewrap = true");
}

TEST_CASE("a bind is an absolute, normalised path that exists") {
  CHECK(refusal_of_bind_ro("usr") == "bind_ro 'usr' is not absolute");
  CHECK(refusal_of_bind_ro("/usr/../etc") == "bind_ro '/usr/../etc' contains '..'");
  CHECK(refusal_of_bind_ro("/usr/").find("bind_ro '/usr/' has an empty component") == 0);
  CHECK(refusal_of_bind_ro("/nope") == "bind_ro '/nope' does not exist");
  CHECK(refusal_of_bind_ro("").find("bind_ro '' is empty") == 0);
  CHECK(refusal_of_bind_ro("/usr\0/x"s).find("control character") != std::string::npos);
}

TEST_CASE("nothing is bound onto, into or over what a sandbox has of its own") {
  for (const std::string path :
       {"/proc", "/dev", "/sys", "/tmp", "/etc", "/workspace", "/home/agent", "/proc/1/root",
        "/dev/shm", "/tmp/x", "/etc/ssl", "/home/agent/.ssh", "/workspace/a"}) {
    CAPTURE(path);
    CHECK(refusal_of_bind_ro(path).find("every sandbox has its own of") != std::string::npos);
    CHECK(refusal_of_bind_rw(path).find("every sandbox has its own of") != std::string::npos);
  }
  CHECK(refusal_of_bind_ro("/home").find("contains '/home/agent'") != std::string::npos);
  CHECK(refusal_of_bind_ro("/").find("is the whole host") != std::string::npos);
}

TEST_CASE("a path that merely begins like a reserved one may be bound") {
  // They need not exist here: "does not exist" comes after every rule about the path itself.
  for (const std::string path : {"/etcetera", "/home/agents", "/tmpfiles", "/run/other"}) {
    CHECK(refusal_of_bind_ro(path) == "bind_ro '" + path + "' does not exist");
  }
}

TEST_CASE("sockets of the host are not shown to a run") {
  for (const std::string path : {"/run", "/run/paddock", "/run/paddock/paddock.sock", "/run/user",
                                 "/run/user/1000", "/run/dbus"}) {
    CAPTURE(path);
    CHECK(refusal_of_bind_ro(path).find("would show the sockets in") != std::string::npos);
  }

  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/service.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(refusal_of_bind_ro(path).find("is a socket") != std::string::npos);
}

TEST_CASE("only directories and regular files are bound") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/fifo";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(refusal_of_bind_ro(path) ==
        "bind_ro '" + path + "' is neither a directory nor a regular file");
}

// Goal: a link that a run planted in a writable bind cannot widen what the next request gets.
TEST_CASE("a bind that leads through a symbolic link is refused and the real path is named") {
  const ScratchDirectory scratch;
  scratch.directory("real/below");
  std::filesystem::create_symlink("real", scratch.path() + "/link");
  CHECK(refusal_of_bind_ro(scratch.path() + "/link") ==
        "bind_ro '" + scratch.path() + "/link' leads through a symbolic link to '" +
            scratch.path() + "/real'; name the real path");
  CHECK(refusal_of_bind_rw(scratch.path() + "/link/below").find("symbolic link") !=
        std::string::npos);
}

TEST_CASE("programs of the host are never writable") {
  CHECK(refusal_of_bind_rw("/usr").find("would let the run change programs") != std::string::npos);
  CHECK(refusal_of_bind_rw("/usr/lib").find("'/usr'") != std::string::npos);
}

TEST_CASE("no bind lies below a writable one, and each path is bound once") {
  const ScratchDirectory scratch;
  const std::string outer = scratch.directory("outer");
  const std::string inner = scratch.directory("outer/inner");
  SandboxPolicy policy = strict_policy();

  policy.bind_ro = {outer};
  policy.bind_rw = {inner};
  CHECK(check_policy(policy));  // writable within read-only: mounted last, nothing below it

  policy.bind_ro = {inner};
  policy.bind_rw = {outer};
  CHECK(refusal(policy) == "bind_ro '" + inner + "' is below bind_rw '" + outer + "'");
  policy.bind_ro = {};
  policy.bind_rw = {inner, outer};
  CHECK(refusal(policy) == "bind_rw '" + inner + "' is below bind_rw '" + outer + "'");

  policy.bind_rw = {outer, outer};
  CHECK(refusal(policy) == "bind_rw '" + outer + "' is listed twice");
  policy.bind_ro = {outer};
  policy.bind_rw = {outer};
  CHECK(refusal(policy) == "bind_ro '" + outer + "' is in bind_rw too");
  policy.bind_ro = {outer, outer};
  policy.bind_rw = {};
  CHECK(refusal(policy) == "bind_ro '" + outer + "' is listed twice");
}

TEST_CASE("the number of binds is bounded") {
  SandboxPolicy policy = strict_policy();
  policy.bind_ro = std::vector<std::string>(129, "/usr");
  CHECK(refusal(policy) == "bind_ro brings the binds to 129, at most 128");
}

TEST_CASE("a working directory is somewhere inside the sandbox") {
  SandboxPolicy policy = strict_policy();
  for (const std::string path :
       {"/workspace", "/workspace/a", "/tmp", "/home/agent", "/", "/usr"}) {
    policy.workdir = path;
    CAPTURE(path);
    CHECK(check_policy(policy));
  }
  policy.workdir = "/srv";
  CHECK(refusal(policy).find("workdir '/srv' is not inside the sandbox") == 0);
  policy.workdir = "/usr/nope";
  CHECK(refusal(policy) == "workdir '/usr/nope' is not a directory");
  policy.workdir = "workspace";
  CHECK(refusal(policy) == "workdir 'workspace' is not absolute");
}

TEST_CASE("without a sandbox the working directory is one of the host") {
  SandboxPolicy policy;
  policy.workdir = "/usr";
  CHECK(check_policy(policy));
  policy.workdir = "/workspace/nope";
  CHECK(refusal(policy) == "workdir '/workspace/nope' is not a directory");
}

TEST_CASE("the environment has no loader-hijack name, no NUL and a bounded size") {
  SandboxPolicy policy;
  policy.environment = {{"LD_PRELOAD", "x"}};
  CHECK(refusal(policy).find("environment names 'LD_PRELOAD'") == 0);
  policy.environment = {{"A", "b\0c"s}};
  CHECK(refusal(policy) == "environment.A contains a NUL byte");
  policy.environment = {{"A", std::string(2u << 20, 'x')}};
  CHECK(refusal(policy) == "environment is 2097155 bytes, at most 1048576");
}

TEST_CASE("a policy has a name that can be recorded") {
  SandboxPolicy policy;
  policy.profile = "a\nb";
  CHECK(refusal(policy) == "name is not of the form [A-Za-z0-9_-]{1,64}");
}
