#include "supervisor/loop/timer.hpp"

#include <unistd.h>

#include "supervisor/loop/event_loop.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;

namespace {

// Declare it before what uses the loop; its destructor asserts that the loop closes cleanly.
struct LoopFixture {
  std::unique_ptr<EventLoop> loop = EventLoop::create().value();
};

}  // namespace

TEST_CASE_METHOD(LoopFixture, "a timer calls back once") {
  int calls = 0;
  Timer timer(loop->get());
  timer.start(1ms, [&] { ++calls; });
  CHECK(timer.is_running());
  loop->run();
  CHECK(calls == 1);
  CHECK_FALSE(timer.is_running());
}

TEST_CASE_METHOD(LoopFixture, "a timer of no time still calls back from the loop") {
  int calls = 0;
  Timer timer(loop->get());
  timer.start(0ms, [&] { ++calls; });
  CHECK(calls == 0);
  loop->run();
  CHECK(calls == 1);
}

TEST_CASE_METHOD(LoopFixture, "a stopped timer does not call back") {
  int calls = 0;
  Timer timer(loop->get());
  timer.start(1ms, [&] { ++calls; });
  timer.stop();
  loop->run();
  CHECK(calls == 0);
}

TEST_CASE_METHOD(LoopFixture, "a timer that is started again forgets its former call") {
  std::string calls;
  Timer timer(loop->get());
  timer.start(1ms, [&] { calls += 'a'; });
  timer.start(2ms, [&] { calls += 'b'; });
  loop->run();
  CHECK(calls == "b");
}

TEST_CASE_METHOD(LoopFixture, "a timer may be started again from its own call") {
  int calls = 0;
  Timer timer(loop->get());
  const std::function<void()> again = [&] {
    if (++calls < 3) timer.start(1ms, again);
  };
  timer.start(1ms, again);
  loop->run();
  CHECK(calls == 3);
}

TEST_CASE_METHOD(LoopFixture, "a timer may be destroyed by its own call") {
  auto timer = std::make_unique<Timer>(loop->get());
  std::string text(100, 'x');  // a capture on the heap, so that a sanitizer sees a use after free
  timer->start(1ms, [&timer, text] {
    timer.reset();
    CHECK(text.size() == 100);
  });
  loop->run();
  CHECK(timer == nullptr);
}

TEST_CASE_METHOD(LoopFixture, "a timer that is destroyed while it runs does not call back") {
  int calls = 0;
  {
    Timer timer(loop->get());
    timer.start(1ms, [&] { ++calls; });
  }
  loop->run();
  CHECK(calls == 0);
}

TEST_CASE_METHOD(LoopFixture,
                 "a timer started long after the loop was made does not go off early") {
  ::usleep(30'000);
  const auto start = std::chrono::steady_clock::now();
  Timer timer(loop->get());
  timer.start(20ms, [] {});
  loop->run();
  // The loop counts in whole milliseconds, so it may be short by one.
  CHECK(std::chrono::steady_clock::now() - start >= 19ms);
}
