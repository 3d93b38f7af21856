#include "supervisor/loop/worker.hpp"

#include <pthread.h>

#include <csignal>
#include <future>

#include "supervisor/loop/event_loop.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

// Declared before what uses the loop; its destructor asserts that the loop closes cleanly.
struct WorkerFixture {
  std::unique_ptr<EventLoop> loop = EventLoop::create().value();
  std::unique_ptr<Worker> worker = Worker::create(loop->get(), "test-worker").value();
};

}  // namespace

TEST_CASE_METHOD(WorkerFixture, "a job runs on another thread and is done on the loop's") {
  const auto loop_thread = std::this_thread::get_id();
  std::thread::id work_thread;
  std::thread::id done_thread;
  worker->submit([&] { work_thread = std::this_thread::get_id(); },
                 [&] { done_thread = std::this_thread::get_id(); });
  CHECK(worker->pending() == 1);
  loop->run();  // ends by itself: an idle worker does not keep it going
  CHECK(work_thread != std::thread::id());
  CHECK(work_thread != loop_thread);
  CHECK(done_thread == loop_thread);
  CHECK(worker->pending() == 0);
}

TEST_CASE_METHOD(WorkerFixture, "jobs run and are done in the order in which they came") {
  std::vector<int> worked;
  std::vector<int> done;
  for (int i = 0; i < 100; ++i)
    worker->submit([&worked, i] { worked.push_back(i); }, [&done, i] { done.push_back(i); });
  loop->run();
  REQUIRE(worked.size() == 100);
  CHECK(std::is_sorted(worked.begin(), worked.end()));
  CHECK(done == worked);
}

TEST_CASE_METHOD(WorkerFixture, "a worker that is destroyed runs its jobs and calls nobody") {
  std::promise<void> go;
  int worked = 0;
  int done = 0;
  worker->submit([&] { go.get_future().wait(); }, [&] { ++done; });
  for (int i = 0; i < 10; ++i) worker->submit([&] { ++worked; }, [&] { ++done; });
  go.set_value();
  worker.reset();
  CHECK(worked == 10);
  loop->run();
  CHECK(done == 0);
}

TEST_CASE_METHOD(WorkerFixture, "a job's end may destroy the worker") {
  int done = 0;
  for (int i = 0; i < 3; ++i)
    worker->submit([] {},
                   [&] {
                     ++done;
                     worker.reset();
                   });
  loop->run();
  CHECK(done == 1);
}

TEST_CASE_METHOD(WorkerFixture, "a job's end may submit the next one") {
  int done = 0;
  std::function<void()> next = [&] {
    if (++done < 5) worker->submit([] {}, next);
  };
  worker->submit([] {}, next);
  loop->run();
  CHECK(done == 5);
}

TEST_CASE_METHOD(WorkerFixture, "a job without an end is as good as one with it") {
  bool worked = false;
  worker->submit([&] { worked = true; }, nullptr);
  loop->run();
  CHECK(worked);
}

TEST_CASE_METHOD(WorkerFixture, "a worker's thread takes no signal of the loop's") {
  bool all_blocked = false;
  worker->submit(
      [&] {
        sigset_t mask;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        all_blocked = true;
        for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1, SIGPIPE})
          all_blocked = all_blocked && sigismember(&mask, number) == 1;
      },
      nullptr);
  loop->run();
  CHECK(all_blocked);
  sigset_t own;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &own);
  CHECK(sigismember(&own, SIGTERM) == 0);
}
