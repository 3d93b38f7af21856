#include "supervisor/runs/live_run.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace paddock::supervisor {

namespace {

// How often what the loop cannot watch is looked at.
constexpr std::chrono::milliseconds look_interval{20};

}  // namespace

LiveRun::LiveRun(uv_loop_t* loop, std::unique_ptr<kernel::Run> run, std::function<void()> on_change)
    : loop_(loop), run_(std::move(run)), on_change_(std::move(on_change)), timer_(loop) {
  refresh();
}

void LiveRun::refresh() {
  watch_descriptors();
  run_->release();
  watch_time();
}

void LiveRun::ready(int fd) {
  run_->on_ready(fd);
  changed();
}

void LiveRun::changed() {
  refresh();
  const auto on_change = on_change_;  // *this may be gone after the call
  on_change();
}

void LiveRun::watch_descriptors() {
  const auto wanted = run_->finished() ? std::vector<kernel::Run::Watch>{} : run_->watches();
  std::erase_if(watched_, [&](const auto& entry) {
    return std::none_of(wanted.begin(), wanted.end(),
                        [&](const auto& watch) { return watch.fd == entry.first; });
  });
  unwatched_.clear();
  for (const auto& watch : wanted) {
    Watched& watched = watched_[watch.fd];
    if (watched.events == watch.events) continue;
    if (!watched.poll) {
      auto poll = Poll::create(loop_, watch.fd);
      if (!poll) {
        unwatched_.push_back(watch);
        continue;
      }
      watched.poll = std::move(*poll);
    }
    watched.events = watch.events;
    watched.poll->start(
        {.readable = (watch.events & POLLIN) != 0, .writable = (watch.events & POLLOUT) != 0},
        [this, fd = watch.fd](Poll::Events) { ready(fd); });
  }
}

// Also tries again to have it watched, by the refresh that follows.
void LiveRun::look_at_unwatched() {
  for (const kernel::Run::Watch& watch : unwatched_) {
    pollfd entry{.fd = watch.fd, .events = watch.events, .revents = 0};
    if (::poll(&entry, 1, /*timeout=*/0) > 0) run_->on_ready(watch.fd);
  }
}

void LiveRun::watch_time() {
  auto next = run_->finished() ? std::nullopt : run_->next_time();
  if (!unwatched_.empty()) {
    auto look = kernel::Clock::now() + look_interval;
    if (timer_time_) look = std::min(look, *timer_time_);
    next = std::min(next.value_or(look), look);
  }
  if (next == timer_time_) return;
  timer_time_ = next;
  timer_.stop();
  if (!next) return;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - kernel::Clock::now());
  uv_update_time(loop_);  // the timer counts from the loop's idea of now, which may be old
  timer_.start(std::max(left, std::chrono::milliseconds(0)), [this] {
    timer_time_.reset();  // fired a moment early, it is armed again
    look_at_unwatched();
    run_->on_time();
    changed();
  });
}

}  // namespace paddock::supervisor
