#include "supervisor/loop/worker.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::size_t thread_name_max_bytes = 15;

// A thread begins with the mask of the one that starts it, so there is no moment in which it could
// take a signal.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Result<std::unique_ptr<Worker>> Worker::create(uv_loop_t* loop, const std::string& name) {
  std::unique_ptr<Worker> worker(new Worker);
  worker->async_ = new_handle<uv_async_t>(worker.get());
  if (const int rc = uv_async_init(loop, worker->async_.get(), on_async); rc < 0)
    return fail(ErrorCode::io, "make a worker: " + std::string(uv_strerror(rc)));
  uv_unref(reinterpret_cast<uv_handle_t*>(worker->async_.get()));
  const AllSignalsBlocked blocked;
  try {
    worker->thread_ = std::thread([raw = worker.get()] { raw->run(); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::io, std::string("start a thread: ") + error.what());
  }
  ::pthread_setname_np(worker->thread_.native_handle(),
                       name.substr(0, thread_name_max_bytes).c_str());
  return worker;
}

Worker::~Worker() {
  *destroyed_ = true;
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Worker::submit(std::function<void()> work, std::function<void()> on_done) {
  if (pending_++ == 0) uv_ref(reinterpret_cast<uv_handle_t*>(async_.get()));
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(work), std::move(on_done)});
  }
  wake_.notify_one();
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    job.work();
    lock.lock();
    done_.push_back(std::move(job));
    uv_async_send(async_.get());  // under the lock: the handle outlives the thread
  }
}

void Worker::report() {
  std::vector<Job> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  const std::shared_ptr<bool> destroyed = destroyed_;
  for (const Job& job : done) {
    if (--pending_ == 0) uv_unref(reinterpret_cast<uv_handle_t*>(async_.get()));
    if (job.on_done) job.on_done();
    if (*destroyed) return;
  }
}

void Worker::on_async(uv_async_t* async) {
  if (auto* owner = owner_of<Worker>(async)) owner->report();
}

}  // namespace paddock::supervisor
