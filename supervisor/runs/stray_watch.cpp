#include "supervisor/runs/stray_watch.hpp"

#include <thread>
#include <utility>

#include "kernel/run/run.hpp"
#include "kernel/run/strays.hpp"

namespace paddock::supervisor {
namespace {

using std::chrono::milliseconds;

// There is hardly ever any. One that was found needs another look for its children.
constexpr milliseconds interval{1000};
constexpr milliseconds interval_after_one{10};

}  // namespace

StrayWatch::StrayWatch(uv_loop_t* loop, std::function<bool(pid_t)> is_launcher,
                       std::function<bool()> has_runs)
    : timer_(loop), is_launcher_(std::move(is_launcher)), has_runs_(std::move(has_runs)) {}

void StrayWatch::run_started() {
  if (!timer_.is_running()) timer_.start(interval, [this] { look_now(); });
}

void StrayWatch::look_now() {
  const std::size_t found = kernel::kill_strays(is_launcher_);
  if (found == 0 && !has_runs_()) return;
  timer_.start(found > 0 ? interval_after_one : interval, [this] { look_now(); });
}

void bury_all_strays() {
  // A stray that the kernel cannot end (a hung disk) must not keep the daemon from ending.
  const auto give_up = kernel::Clock::now() + std::chrono::seconds(5);
  while (kernel::kill_strays([](pid_t) { return false; }) > 0 && kernel::Clock::now() < give_up)
    std::this_thread::sleep_for(milliseconds(1));
}

}  // namespace paddock::supervisor
