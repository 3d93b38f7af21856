#include "supervisor/loop/poll.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "kernel/base/fd.hpp"
#include "supervisor/loop/event_loop.hpp"
#include "supervisor/loop/timer.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;
using paddock::kernel::Fd;

namespace {

struct SocketPairFixture {
  SocketPairFixture() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    ours = Fd(ends[0]);
    theirs = Fd(ends[1]);
  }

  // Runs the loop for a while and counts what `poll` reports for `events`.
  std::vector<Poll::Events> watch(Poll& poll, Poll::Events events) {
    std::vector<Poll::Events> seen;
    Timer timer(loop->get());
    timer.start(30ms, [&] { poll.stop(); });
    poll.start(events, [&](Poll::Events event) {
      seen.push_back(event);
      if (seen.size() < 1000) return;  // a busy loop would show, and end
      poll.stop();
      timer.stop();
    });
    loop->run();
    return seen;
  }

  std::unique_ptr<EventLoop> loop = EventLoop::create().value();
  Fd ours;
  Fd theirs;
};

}  // namespace

TEST_CASE_METHOD(SocketPairFixture, "bytes from the other side make a descriptor readable") {
  const auto poll = Poll::create(loop->get(), ours.get()).value();
  REQUIRE(::write(theirs.get(), "x", 1) == 1);
  std::string received;
  poll->start({.readable = true}, [&](Poll::Events events) {
    CHECK(events == Poll::Events{.readable = true});
    char byte = 0;
    if (::read(ours.get(), &byte, 1) == 1) received += byte;
    poll->stop();
  });
  loop->run();
  CHECK(received == "x");
}

TEST_CASE_METHOD(SocketPairFixture, "a socket with room is writable") {
  const auto poll = Poll::create(loop->get(), ours.get()).value();
  poll->start({.writable = true}, [&](Poll::Events events) {
    CHECK(events == Poll::Events{.writable = true});
    poll->stop();
  });
  loop->run();
}

TEST_CASE_METHOD(SocketPairFixture, "a peer that closes its socket hangs up") {
  const auto poll = Poll::create(loop->get(), ours.get()).value();
  theirs.close();
  const auto seen = watch(*poll, {.hang_up = true});
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.front().hang_up);
}

TEST_CASE_METHOD(SocketPairFixture, "a peer that closes with unread data hangs up") {
  const auto poll = Poll::create(loop->get(), ours.get()).value();
  REQUIRE(::write(ours.get(), "unread", 6) == 6);
  theirs.close();
  const auto seen = watch(*poll, {.hang_up = true});
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.front().hang_up);
}

TEST_CASE_METHOD(SocketPairFixture, "a peer that shuts down its writing side does not hang up") {
  const auto poll = Poll::create(loop->get(), ours.get()).value();
  REQUIRE(::shutdown(theirs.get(), SHUT_WR) == 0);
  CHECK(watch(*poll, {.hang_up = true}).empty());
  theirs.close();
  CHECK_FALSE(watch(*poll, {.hang_up = true}).empty());
}

TEST_CASE_METHOD(SocketPairFixture, "bytes that nobody asked about are not reported") {
  const auto poll = Poll::create(loop->get(), ours.get()).value();
  REQUIRE(::write(theirs.get(), "x", 1) == 1);
  CHECK(watch(*poll, {.hang_up = true}).empty());
}

TEST_CASE_METHOD(SocketPairFixture, "a poll may be destroyed by its own call") {
  auto poll = Poll::create(loop->get(), ours.get()).value();
  const std::string text(100, 'x');  // a capture on the heap, for the sanitizer
  poll->start({.writable = true}, [&poll, text](Poll::Events) {
    poll.reset();
    CHECK(text.size() == 100);
  });
  loop->run();
  CHECK(poll == nullptr);
}

TEST_CASE_METHOD(SocketPairFixture, "what cannot be polled is an error that names it") {
  const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const auto poll = Poll::create(loop->get(), file.get());
  REQUIRE_FALSE(poll);
  CHECK(poll.error().message ==
        "watch descriptor " + std::to_string(file.get()) + ": operation not permitted");
  CHECK_FALSE(Poll::create(loop->get(), 999));
}
