// What a run cannot reach: the network, its init, more privileges. Each attempt is made without
// that isolation first, where it must succeed.

#include <arpa/inet.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "kernel/base/fd.hpp"
#include "kernel/policy/scratch_directory.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

std::string attempt(const char* profile, const Argv& argv) {
  return one_line(run(policy_of(profile), argv).stdout);
}

// With every layer but the filter, which would answer first.
std::string attempt_unfiltered(const char* profile, const Argv& argv) {
  SandboxPolicy policy = policy_of(profile);
  policy.seccomp = SeccompUse::off;
  return one_line(run(policy, argv).stdout);
}

// An attempt on a process that the program itself has started, in the same sandbox.
std::string attempt_on_child(const char* profile, const std::string& name) {
  return attempt_unfiltered(profile, {"sh", "-c", "sleep 5 & exec " + program(name) + " $!"});
}

struct Listener {
  Fd socket;
  std::string port;
};

Listener listen_on_loopback() {
  Listener listener{Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), ""};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(listener.socket.get(), generic, size) == 0);
  REQUIRE(::listen(listener.socket.get(), 8) == 0);
  REQUIRE(::getsockname(listener.socket.get(), generic, &size) == 0);
  listener.port = std::to_string(ntohs(address.sin_port));
  return listener;
}

}  // namespace

TEST_CASE("a run under STRICT cannot reach a listener on the host's loopback") {
  const Listener listener = listen_on_loopback();
  const std::string connect_to = program("connect_to");
  CHECK(attempt("OFF", {connect_to, "tcp", "127.0.0.1", listener.port}) == "ok");
  CHECK(attempt("STRICT", {connect_to, "tcp", "127.0.0.1", listener.port}) == "ECONNREFUSED");
}

TEST_CASE("a run under STRICT cannot open a connection to the world") {
  const std::string connect_to = program("connect_to");
  CHECK(attempt("STRICT", {connect_to, "tcp", "1.1.1.1", "443"}) == "ENETUNREACH");
  CHECK(attempt("STRICT", {connect_to, "udp", "1.1.1.1", "53"}) == "ENETUNREACH");
  // connect(2) of a datagram socket asks for a route and sends nothing.
  NEEDS(attempt("OFF", {connect_to, "udp", "1.1.1.1", "53"}) == "ok", no_route);
}

TEST_CASE("a run under STRICT cannot reach an abstract socket of the host") {
  const std::string name = make_marker();
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(listener.get(), 8) == 0);
  CHECK(attempt("OFF", {program("connect_to"), "abstract", name}) == "ok");
  CHECK(attempt("STRICT", {program("connect_to"), "abstract", name}) == "ECONNREFUSED");
}

TEST_CASE("a policy with a network has the host's") {
  const Listener listener = listen_on_loopback();
  SandboxPolicy policy = policy_of("STRICT");
  policy.deny_network = false;
  const SandboxResult result =
      run(policy, {program("connect_to"), "tcp", "127.0.0.1", listener.port});
  CHECK(result.stdout == "ok\n");
}

TEST_CASE("the init of a run cannot be traced, read or robbed by its agent") {
  // Goal: who controls the init writes the exit status of the run. Method: the same attempts
  // succeed on a process that is the agent's own.
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    CHECK(attempt_on_child(profile, "trace_process") == "ok");
    CHECK(attempt_on_child(profile, "steal_descriptor") == "ok");
    CHECK(attempt_unfiltered(profile, {program("trace_process"), "parent"}) == "EPERM");
    CHECK(attempt_unfiltered(profile, {program("steal_descriptor"), "parent"}) == "EPERM");
    for (const char* file : {"environ", "maps", "mem", "auxv"}) {
      INFO(file);
      const std::string read = program("open_path") + " read /proc/";
      CHECK(attempt(profile, {"sh", "-c", read + "$$/" + file}) != "EACCES");
      CHECK(attempt(profile, {"sh", "-c", read + "$PPID/" + file}) == "EACCES");
    }
  }
}

TEST_CASE("no signal of a run under STRICT has an effect on its init") {
  for (const int signal : {SIGTERM, SIGKILL, SIGSTOP, SIGHUP, SIGCHLD, SIGSEGV, SIGUSR1}) {
    INFO("signal " << signal);
    const SandboxResult result = run(
        policy_of("STRICT"),
        {"sh", "-c",
         program("signal_process") + " 1 " + std::to_string(signal) + "; echo went on; exit 5"});
    CHECK(result.stdout.ends_with("went on\n"));
    CHECK(result.cause == Cause::exited);
    CHECK(result.exit_code == 5);
  }
}

TEST_CASE("a run under STRICT has no capability in any set and cannot gain privileges") {
  auto seen = values_in(run(policy_of("STRICT"), {program("show_state")}).stdout);
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    INFO(set);
    CHECK(seen[set] == "0000000000000000");
  }
  CHECK(seen["NoNewPrivs"] == "1");
  CHECK(seen["uid"] == "1000");
  CHECK(seen["Groups"] == (is_root() ? "" : seen["Groups"]));  // root's groups are dropped
}

TEST_CASE("no run has an effective capability, and none can gain privileges") {
  for (const char* profile : {"OFF", "DEFAULT"}) {
    INFO(profile);
    auto seen = values_in(run(policy_of(profile), {program("show_state")}).stdout);
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
      CHECK(seen[set] == "0000000000000000");
    CHECK(seen["NoNewPrivs"] == "1");
  }
}

TEST_CASE("a set-user-ID program runs without its owner's rights in every profile") {
  NEEDS(is_root(), needs_root);  // only root can make one
  // Method: a set-user-ID copy of `id`, started as an ordinary user without paddock, is root.
  const ScratchDirectory scratch;
  ScratchDirectory::set_mode(scratch.path(), 0755);
  const std::string id = scratch.path() + "/id";
  std::filesystem::copy_file("/usr/bin/id", id);
  REQUIRE(::chmod(id.c_str(), 04755) == 0);
  struct statvfs file_system {};
  REQUIRE(::statvfs(id.c_str(), &file_system) == 0);
  NEEDS((file_system.f_flag & ST_NOSUID) == 0, "/var/tmp is mounted nosuid");
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setresuid(65'534, 65'534, 65'534) != 0) ::_exit(2);
    ::execl("/bin/sh", "sh", "-c", ("test $(" + id + " -u) = 0").c_str(), nullptr);
    ::_exit(2);
  }
  int status = -1;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(status == 0);
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    if (policy.use_bubblewrap) policy.bind_ro.push_back(scratch.path());
    const std::string uid = one_line(run(policy, {id, "-u"}).stdout);
    CHECK(uid != "0");
    CHECK_FALSE(uid.empty());
  }
}

TEST_CASE("a run under STRICT cannot make a user namespace, in which it would be root") {
  const std::string make = program("make_user_namespace");
  for (const char* how : {"unshare", "clone3"}) {
    INFO(how);
    CHECK(attempt("OFF", {make, how}) == "ok");
    CHECK(attempt_unfiltered("STRICT", {make, how}) == "ENOSPC");
    // The filter cannot look into clone3's arguments and takes the whole call away.
    CHECK(attempt("STRICT", {make, how}) == (how == std::string("clone3") ? "ENOSYS" : "EPERM"));
  }
}

TEST_CASE("STRICT gives each of its namespaces anew, and the receipt has seen it") {
  const SandboxResult result = run(policy_of("STRICT"), {"true"});
  REQUIRE(result.receipt);
  CHECK(result.receipt->new_namespaces ==
        std::vector<std::string>{"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"});
  CHECK(result.receipt->no_new_privs);
  CHECK(result.receipt->capabilities == "0000000000000000");
  CHECK(result.profile == "STRICT");
  CHECK(result.policy_hash == policy_hash(policy_of("STRICT")));
}

TEST_CASE("what a profile asks for and the host does not have is said in the result") {
  const SandboxResult result = run(policy_of("STRICT"), {"true"});
  CHECK(result.degraded == std::vector<std::string>{"NO-MEMORY-CEILING(cgroup)",
                                                    "NO-PIDS-CEILING(cgroup)",
                                                    "NO-CPU-CEILING(cgroup)"});
  CHECK(run(policy_of("OFF"), {"true"}).degraded.empty());
}

TEST_CASE("a key in the supervisor's session keyring is out of reach under every profile") {
  // The supervisor is a child of this test: a session keyring is for life.
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    constexpr int join_session_keyring = 1;
    constexpr int session_keyring = -3;
    const std::string secret = "secret-value";
    if (::syscall(SYS_keyctl, join_session_keyring, nullptr) < 0 ||
        ::syscall(SYS_add_key, "user", "paddock-test", secret.data(), secret.size(),
                  session_keyring) < 0)
      ::_exit(77);
    // First without paddock, where it must succeed.
    const std::string command = program("use_keyring") + " paddock-test | grep -q secret-value";
    if (std::system(command.c_str()) != 0) ::_exit(1);
    for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
      const SandboxResult result =
          run(policy_of(profile), {program("use_keyring"), "paddock-test"});
      if (result.cause != Cause::exited || result.stdout.find("secret") != std::string::npos)
        ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(supervisor, &status, 0) == supervisor);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
