#include "supervisor/runs/drain.hpp"

#include <algorithm>
#include <utility>

namespace paddock::supervisor {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void Drain::begin(milliseconds deadline, DrainUntil until, OnDrained on_drained,
                  std::function<void()> on_deadline) {
  const auto at = steady_clock::now() + deadline;
  if (!is_on_) {
    result_ = {};
    is_over_ = false;
  }
  if (!is_on_ || at < deadline_) {
    deadline_ = at;
    deadline_timer_.start(deadline, [this, on_deadline = std::move(on_deadline)] {
      is_over_ = true;
      on_deadline();
    });
  }
  is_on_ = true;
  until_ = std::max(until_, until);
  if (on_drained) waiting_.push_back(std::move(on_drained));
}

kernel::Result<void> Drain::cancel() {
  using kernel::ErrorCode;
  if (!is_on_) return kernel::fail(ErrorCode::invalid_request, "the daemon is not draining");
  if (until_ == DrainUntil::end_of_daemon)
    return kernel::fail(ErrorCode::draining, "the daemon is shutting down; that cannot be undone");
  is_on_ = false;
  deadline_timer_.stop();
  result_.cancelled = true;
  answer_all();
  return {};
}

void Drain::run_ended(bool had_process, kernel::Cause cause) {
  if (!is_on_) return;
  if (cause != kernel::Cause::shutdown) {
    ++result_.finished;
  } else if (had_process) {
    ++result_.killed;
  } else {
    ++result_.never_started;
  }
}

void Drain::nobody_left() {
  if (!is_on_) return;
  is_over_ = true;
  deadline_timer_.stop();
  answer_all();
}

void Drain::answer_all() {
  for (OnDrained& on_drained : std::exchange(waiting_, {}))
    answers_.push_back({std::move(on_drained), result_});
  if (answers_.empty()) return;
  answer_timer_.start(milliseconds(0), [this] {
    for (const Answer& answer : std::exchange(answers_, {})) answer.on_drained(answer.result);
  });
}

}  // namespace paddock::supervisor
