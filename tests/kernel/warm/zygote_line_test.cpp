#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/run/spawn.hpp"
#include "kernel/warm/spawn_warm.hpp"
#include "kernel/warm/zygote.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

struct Ends {
  ZygoteLine line;
  Fd zygotes;
};

Ends make_line() {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  Ends both;
  both.line.socket = Fd(ends[0]);
  both.zygotes = Fd(ends[1]);
  return both;
}

struct Received {
  ForkRequest request;
  std::vector<Fd> descriptors;
};

Received receive(const Fd& socket) {
  Received received;
  alignas(cmsghdr) char ancillary[CMSG_SPACE(16 * sizeof(int))] = {};
  iovec part{&received.request, sizeof received.request};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary;
  header.msg_controllen = sizeof ancillary;
  REQUIRE(::recvmsg(socket.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) ==
          sizeof received.request);
  const cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  REQUIRE(rights != nullptr);
  const std::size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  std::vector<int> numbers(count);
  std::memcpy(numbers.data(), CMSG_DATA(rights), count * sizeof(int));
  for (const int number : numbers) received.descriptors.emplace_back(number);
  return received;
}

Plan plan_of_fork(bool own_network, bool channel) {
  Plan plan;
  plan.new_namespaces = {"ipc", "mnt"};
  if (own_network) plan.new_namespaces.emplace_back("net");
  plan.launch.channel = channel;
  plan.launch.argv = {"python3", "-c", "pass"};
  plan.launch.workdir = "/workspace";
  return plan;
}

}  // namespace

TEST_CASE("a zygote that has said nothing yet is not ready") {
  Ends ends = make_line();
  const auto ready = zygote_says_ready(ends.line);
  REQUIRE(ready);
  CHECK_FALSE(*ready);
}

TEST_CASE("a ready zygote has told its program and each of its namespaces") {
  Ends ends = make_line();
  ZygoteReady says;
  std::strcpy(says.program, "/usr/bin/python3.11");
  for (std::size_t i = 0; i < namespace_count; ++i)
    std::snprintf(says.namespaces[i], sizeof says.namespaces[i], "%s:[%zu]", namespace_names[i],
                  i + 1);
  says.devices[0] = 51;
  says.devices[1] = 52;
  says.session_keyring = 7;
  REQUIRE(::send(ends.zygotes.get(), &says, sizeof says, 0) == sizeof says);
  REQUIRE(zygote_says_ready(ends.line).value());
  CHECK(ends.line.program == "/usr/bin/python3.11");
  CHECK(ends.line.namespaces.size() == namespace_count);
  CHECK(ends.line.namespaces.at("mnt") == "mnt:[3]");
  CHECK(ends.line.devices == std::map<std::string, std::uint64_t>{{"/proc", 51}, {"/dev/pts", 52}});
  CHECK(ends.line.session_keyring == 7);
}

TEST_CASE("words without an end in a zygote's message are cut, not followed") {
  Ends ends = make_line();
  ZygoteReady says;
  std::memset(says.program, 'x', sizeof says.program);
  for (auto& link : says.namespaces) std::memset(link, 'x', sizeof link);
  REQUIRE(::send(ends.zygotes.get(), &says, sizeof says, 0) == sizeof says);
  REQUIRE(zygote_says_ready(ends.line).value());
  CHECK(ends.line.program.size() == sizeof says.program - 1);
  CHECK(ends.line.namespaces.at("uts").size() == sizeof says.namespaces[0] - 1);
}

TEST_CASE("a zygote that is gone, or says something else, is an error") {
  Ends gone = make_line();
  gone.zygotes.close();
  CHECK(zygote_says_ready(gone.line).error().code == ErrorCode::io);
  Ends other = make_line();
  REQUIRE(::send(other.zygotes.get(), "hello", 5, 0) == 5);
  CHECK(zygote_says_ready(other.line).error().code == ErrorCode::io);
}

TEST_CASE("a request for a fork carries the run's ends, and only those that are said to be there") {
  for (const bool has_network : {false, true}) {
    for (const bool has_channel : {false, true}) {
      for (const bool has_cgroup : {false, true}) {
        Ends ends = make_line();
        const Fd channel(::open("/dev/null", O_RDWR | O_CLOEXEC));
        const Fd cgroup(::open("/dev/zero", O_RDWR | O_CLOEXEC));
        const Plan plan = plan_of_fork(has_network, has_channel);
        auto run = spawn_warm(plan, ends.line, has_cgroup ? cgroup.get() : -1,
                              has_channel ? channel.get() : -1);
        REQUIRE(run);
        CHECK(run->launcher == -1);
        const Received received = receive(ends.zygotes);
        CHECK(received.request.new_network == (has_network ? 1 : 0));
        CHECK(received.request.channel == (has_channel ? 1 : 0));
        CHECK(received.request.cgroup == (has_cgroup ? 1 : 0));
        REQUIRE(received.descriptors.size() == 5u + has_channel + has_cgroup);
        // stdin, stdout, stderr, in this order.
        REQUIRE(::write(run->stdin_write.get(), "i", 1) == 1);
        char byte = 0;
        CHECK(::read(received.descriptors[0].get(), &byte, 1) == 1);
        CHECK(byte == 'i');
        REQUIRE(::write(received.descriptors[1].get(), "o", 1) == 1);
        REQUIRE(::write(received.descriptors[2].get(), "e", 1) == 1);
        CHECK(::read(run->stdout_read.get(), &byte, 1) == 1);
        CHECK(byte == 'o');
        CHECK(::read(run->stderr_read.get(), &byte, 1) == 1);
        CHECK(byte == 'e');
        // The control socket, and the spec.
        REQUIRE(::send(received.descriptors[3].get(), "c", 1, 0) == 1);
        CHECK(::recv(run->control.get(), &byte, 1, MSG_DONTWAIT) == 1);
        const std::string spec = encode(plan.launch);
        std::string bytes(spec.size() + 1, '\0');
        CHECK(::pread(received.descriptors[4].get(), bytes.data(), bytes.size(), 0) ==
              static_cast<ssize_t>(spec.size()));
        bytes.resize(spec.size());
        CHECK(bytes == spec);
      }
    }
  }
}

TEST_CASE("a request to a zygote that is gone fails, and its streams are closed") {
  Ends ends = make_line();
  ends.zygotes.close();
  const auto run = spawn_warm(plan_of_fork(true, false), ends.line, -1, -1);
  REQUIRE_FALSE(run);
  CHECK(run.error().code == ErrorCode::io);
}

TEST_CASE("the supervisor's ends of a run's streams never wait, and nobody inherits them") {
  auto streams = RunStreams::make();
  REQUIRE(streams);
  const auto run = streams->ours();
  REQUIRE(run);
  for (const Fd* fd : {&run->control, &run->stdin_write, &run->stdout_read, &run->stderr_read}) {
    CHECK((::fcntl(fd->get(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
  for (const Fd* fd : {&streams->input.read_end, &streams->output.write_end,
                       &streams->errors.write_end, &streams->control_theirs})
    CHECK((::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC) != 0);
  // The program's own ends do wait.
  for (const Fd* fd : {&streams->input.read_end, &streams->output.write_end})
    CHECK((::fcntl(fd->get(), F_GETFL) & O_NONBLOCK) == 0);
}
