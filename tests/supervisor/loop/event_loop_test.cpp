#include "supervisor/loop/event_loop.hpp"

#include <unistd.h>

#include <csignal>

#include "kernel/base/fd.hpp"
#include "supervisor/loop/timer.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;

TEST_CASE("a loop with nothing to wait for returns and closes cleanly") {
  const auto loop = EventLoop::create().value();
  loop->run();
}

TEST_CASE("a signal reaches its handler and stop ends the loop") {
  const auto loop = EventLoop::create().value();
  std::vector<int> signals;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    REQUIRE(loop->handle_signal(number, [&, number] {
      signals.push_back(number);
      if (signals.size() == 3) loop->stop();
    }));
  }
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::raise(number);
  loop->run();
  std::sort(signals.begin(), signals.end());
  CHECK(signals == std::vector<int>{SIGHUP, SIGINT, SIGTERM});
}

TEST_CASE("a second handler replaces the first, also from within it") {
  const auto loop = EventLoop::create().value();
  std::string calls;
  REQUIRE(loop->handle_signal(SIGHUP, [&] {
    calls += 'a';
    REQUIRE(loop->handle_signal(SIGHUP, [&] {
      calls += 'b';
      loop->stop();
    }));
    ::raise(SIGHUP);
  }));
  ::raise(SIGHUP);
  loop->run();
  CHECK(calls == "ab");
}

TEST_CASE("a signal that cannot be handled is an error that names it") {
  const auto loop = EventLoop::create().value();
  const auto result = loop->handle_signal(SIGKILL, [] {});
  REQUIRE_FALSE(result);
  CHECK(result.error().message == "handle signal 9: invalid argument");
}

TEST_CASE("writing to a closed pipe is an error and not the end of the process") {
  const auto loop = EventLoop::create().value();
  auto pipe = paddock::kernel::make_pipe().value();
  pipe.read_end.close();
  CHECK(::write(pipe.write_end.get(), "x", 1) == -1);
}

TEST_CASE("the loop's clock moves on") {
  const auto loop = EventLoop::create().value();
  const auto before = loop->now();
  Timer timer(loop->get());
  timer.start(5ms, [] {});
  loop->run();
  CHECK(loop->now() - before >= 5ms);
}
