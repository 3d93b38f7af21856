#pragma once
// Worker: one thread for what blocks (a disk), so that the loop never does.
//
// Nothing but the queue is shared: a job's `work` runs on the thread, everything else on the loop.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/loop/uv_handle.hpp"

namespace paddock::supervisor {

class Worker {
 public:
  // `name` is what tools show of the thread, at most 15 characters of it. Its signals are blocked:
  // they belong to the loop. Fails with io.
  static kernel::Result<std::unique_ptr<Worker>> create(uv_loop_t* loop, const std::string& name);

  // Blocks until every job that was submitted has run. Calls no `on_done`.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs `work` on the thread, after the jobs before it, then `on_done` (may be empty) on the loop,
  // in the same order, never from here. `on_done` may destroy the Worker. Both are destroyed on
  // the loop's thread. The queue has no bound of its own: look at pending() before.
  // The loop goes on while a job is under way, and not for an idle Worker.
  void submit(std::function<void()> work, std::function<void()> on_done);

  // Jobs whose `on_done` has not been called yet.
  std::size_t pending() const { return pending_; }

 private:
  struct Job {
    std::function<void()> work;
    std::function<void()> on_done;
  };

  Worker() = default;
  void run();  // the thread
  void report();
  static void on_async(uv_async_t* async);

  // Of the loop's thread.
  UvHandle<uv_async_t> async_;
  std::size_t pending_ = 0;
  std::shared_ptr<bool> destroyed_ = std::make_shared<bool>(false);

  std::mutex mutex_;  // guards the rest
  std::condition_variable wake_;
  std::deque<Job> queue_;
  std::vector<Job> done_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace paddock::supervisor
