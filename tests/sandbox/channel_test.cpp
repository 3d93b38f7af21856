// A descriptor that a run's program gets besides its standard streams.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>

#include "kernel/base/fd.hpp"
#include "kernel/confine/launch_wire.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

struct Channel {
  Channel() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    ours = Fd(ends[0]);
    theirs = Fd(ends[1]);
  }

  void write(std::string_view bytes) const {
    REQUIRE(::write(ours.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  // What is there by now; "(end)" after it if nobody has the other end any more.
  std::string read() const {
    std::string text;
    char bytes[256];
    ssize_t count = 0;
    while ((count = ::recv(ours.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
      text.append(bytes, static_cast<std::size_t>(count));
    return count == 0 ? text + "(end)" : text;
  }

  Fd ours;
  Fd theirs;
};

}  // namespace

TEST_CASE("a program talks through the channel that it was given, as descriptor 3") {
  for (const char* profile : profiles) {
    INFO(profile);
    Channel channel;
    channel.write("question\n");
    const SandboxResult result =
        run(policy_of(profile),
            {"sh", "-c", "read line <&3 && echo \"answer to $line\" >&3 && echo done"},
            {.channel = channel.theirs.get()});
    CHECK(result.exit_code == 0);
    CHECK(result.stdout == "done\n");
    CHECK(channel.read() == "answer to question\n");  // the caller's own end is still open
    channel.theirs = Fd();
    CHECK(channel.read() == "(end)");
  }
}

TEST_CASE("a program with a channel has the descriptors 0 to 3 and no other") {
  // Method: many descriptors that every child inherits, on all the numbers that matter.
  std::vector<Fd> open;
  for (int i = 0; i < 70; ++i) open.emplace_back(::open("/etc/passwd", O_RDONLY));
  REQUIRE(open.back().get() > fd_program);
  const Channel channel;
  for (const char* profile : profiles) {
    INFO(profile);
    CHECK(values_in(
              run(policy_of(profile), {program("show_state")}, {.channel = channel.theirs.get()})
                  .stdout)["fds"] == "0,1,2,3");
    CHECK(values_in(run(policy_of(profile), {program("show_state")}).stdout)["fds"] == "0,1,2");
  }
}

TEST_CASE("a program without a channel has no descriptor 3") {
  for (const char* profile : profiles) {
    INFO(profile);
    const SandboxResult result = run(policy_of(profile), {"sh", "-c", "echo text >&3"});
    CHECK(result.exit_code != 0);
    CHECK(result.cause == Cause::exited);
  }
}

TEST_CASE("a program that cannot be executed is reported, with a channel as without") {
  for (const char* profile : profiles) {
    INFO(profile);
    Channel channel;
    const SandboxResult result =
        run(policy_of(profile), {"no-such-program"}, {.channel = channel.theirs.get()});
    CHECK(result.cause == Cause::cannot_execute);
    channel.theirs = Fd();
    CHECK(channel.read() == "(end)");
  }
}

TEST_CASE("a channel that is not used, or kept by what the program leaves, delays no end") {
  for (const char* profile : profiles) {
    for (const char* script : {":", "setsid sleep 300 &"}) {
      INFO(profile << ": " << script);
      Channel channel;
      const auto begin = Clock::now();
      const SandboxResult result =
          run(policy_of(profile), {"sh", "-c", script}, {.channel = channel.theirs.get()});
      CHECK(result.exit_code == 0);
      CHECK(Clock::now() - begin < std::chrono::seconds(10));  // not as long as it is kept
      channel.theirs = Fd();
      CHECK(channel.read() == "(end)");
    }
  }
}

TEST_CASE("nobody but the program and its children holds its end of a channel") {
  // Goal: the other end sees when the program has closed it, while the run goes on.
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : profiles) {
    INFO(profile);
    Channel channel;
    auto live = sandbox.start(policy_of(profile), {"sh", "-c", "exec 3>&-; exec sleep 300"}, "",
                              "r-0123456789abcdef", {.channel = channel.theirs.get()});
    REQUIRE(live);
    channel.theirs = Fd();
    bool closed_while_alive = false;
    const auto deadline = Clock::now() + std::chrono::seconds(5);
    drive_all({live->get()}, [&] {
      if (closed_while_alive) return;
      if (Clock::now() > deadline) return (*live)->kill();
      if (!(*live)->started() || channel.read() != "(end)") return;
      closed_while_alive = true;
      (*live)->stop();
    });
    CHECK(closed_while_alive);
    CHECK((*live)->take_result().cause == Cause::killed_by_request);
  }
}

TEST_CASE("a program cannot give its channel a name among those of the host") {
  const std::string name = "paddock-test-" + make_marker();
  const auto take = [&](const Fd& socket) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size()));
  };
  {
    const Channel unconfined;  // whoever has an end of a pair may name it
    REQUIRE(take(unconfined.theirs) == 0);
  }
  for (const char* profile : profiles) {
    INFO(profile);
    const Channel channel;
    const SandboxResult result = run(policy_of(profile),
                                     {"python3", "-c",
                                      "import socket\n"
                                      "try: socket.socket(fileno=3).bind('\\0" +
                                          name +
                                          "')\n"
                                          "except OSError as error: print(error.errno)"},
                                     {.channel = channel.theirs.get()});
    CHECK(result.stdout == std::to_string(EINVAL) + "\n");
    const Channel ours;
    CHECK(take(ours.theirs) == 0);  // the name is free
  }
}
