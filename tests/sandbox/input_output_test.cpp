#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "kernel/base/fd.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

Fd listen_abstract(const std::string& name) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(fd.get(), 1) == 0);
  return fd;
}

// The descriptor that came through `listener`, or none yet.
Fd take_passed(const Fd& listener) {
  const Fd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) return {};
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(connection.get(), &message, MSG_CMSG_CLOEXEC) != 1) return {};
  int passed = -1;
  std::memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof passed);
  return Fd(passed);
}

}  // namespace

TEST_CASE("output is passed on byte by byte, each stream apart") {
  for (const char* profile : profiles) {
    INFO(profile);
    const SandboxResult result =
        run(policy_of(profile), {"sh", "-c", "printf 'a\\000\\377b'; printf 'c' >&2"});
    CHECK(result.stdout == std::string("a\0\xff"
                                       "b",
                                       4));
    CHECK(result.stderr == "c");
    CHECK(result.stdout_bytes == 4);
    CHECK(result.stderr_bytes == 1);
    CHECK_FALSE(result.stdout_truncated);
  }
}

TEST_CASE("a flood is read to its end; what is kept is capped, flagged and counted") {
  for (const char* profile : profiles) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    policy.output_bytes = 1u << 20;
    const SandboxResult out = run(policy, {program("flood"), "1", "64"});
    CHECK(out.cause == Cause::exited);
    CHECK(out.exit_code == 0);
    CHECK(out.stdout_bytes == std::uint64_t{64} << 20);
    CHECK(out.stdout == std::string(1u << 20, 'x'));
    CHECK(out.stdout_truncated);
    CHECK_FALSE(out.stderr_truncated);
    const SandboxResult error = run(policy, {program("flood"), "2", "2"});
    CHECK(error.stderr_bytes == std::uint64_t{2} << 20);
    CHECK(error.stderr.size() == 1u << 20);
    CHECK(error.stderr_truncated);
    CHECK(error.stdout_bytes == 0);
  }
}

TEST_CASE("live output comes while the program runs, and all of it, kept or not") {
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : profiles) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    policy.output_bytes = 8;
    std::string live;
    bool came_live = false;
    RunOptions options;
    options.stdin_stays_open = true;
    options.on_output = [&](Stream, std::string_view bytes) { live += bytes; };
    const auto started = sandbox
                             .start(policy, {"sh", "-c", "echo one; read line; echo $line!"}, "",
                                    "live", std::move(options))
                             .value();
    drive_all({started.get()}, [&] {
      if (live != "one\n" || came_live) return;
      came_live = true;
      started->write_stdin("and two\n");
    });
    CHECK(came_live);
    CHECK(live == "one\nand two!\n");
    const SandboxResult result = started->take_result();
    CHECK(result.stdout == "one\nand ");
    CHECK(result.stdout_bytes == 13);
  }
}

TEST_CASE("8 MiB of input reach a program that reads them") {
  for (const char* profile : profiles) {
    INFO(profile);
    const std::string input(8u << 20, 'z');
    const SandboxResult result =
        run(policy_of(profile), {program("read_stdin")}, {.stdin_bytes = input});
    CHECK(result.stdout == std::to_string(input.size()) + " " +
                               std::to_string(input.size() * static_cast<std::size_t>('z')) + "\n");
  }
}

TEST_CASE("input that is never read holds nothing up") {
  for (const char* profile : profiles) {
    INFO(profile);
    const RunInput input{.stdin_bytes = std::string(8u << 20, 'z')};
    CHECK(run(policy_of(profile), {"true"}, input).exit_code == 0);
    const SandboxResult closed =
        run(policy_of(profile), {"sh", "-c", "exec <&-; sleep 0.1; echo done"}, input);
    CHECK(closed.stdout == "done\n");
    CHECK(closed.exit_code == 0);
  }
}

TEST_CASE("a program without input sees its end at once") {
  for (const char* profile : profiles) {
    INFO(profile);
    CHECK(run(policy_of(profile), {program("read_stdin")}).stdout == "0 0\n");
  }
}

TEST_CASE("somebody outside who holds the output open delays the result by the drain time only") {
  // Method: the program gives its standard output to this process, which keeps it.
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : {"OFF", "DEFAULT"}) {
    INFO(profile);
    const std::string name = make_marker();
    const Fd listener = listen_abstract(name);
    Fd held;
    const auto before = Clock::now();
    const auto live =
        sandbox.start(policy_of(profile), {program("pass_stdout"), name}, "", "held", RunOptions{})
            .value();
    drive_all({live.get()}, [&] {
      if (!held) held = take_passed(listener);
    });
    REQUIRE(held);
    const SandboxResult result = live->take_result();
    CHECK(result.cause == Cause::exited);
    CHECK(result.output_held_open);
    CHECK(result.stdout == "ok\n");
    CHECK_FALSE(result.survivors_unproved);
    CHECK(Clock::now() - before < std::chrono::seconds(3));
  }
}
