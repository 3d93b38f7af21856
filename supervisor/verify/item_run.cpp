#include "supervisor/verify/item_run.hpp"

#include <utility>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using std::chrono::milliseconds;

}  // namespace

void ItemRun::start(ResolvedRun run, OnSlot on_slot, OnOver on_over, OnBegun on_begun) {
  is_started_ = true;
  on_slot_ = std::move(on_slot);
  on_over_ = std::move(on_over);
  on_begun_ = std::move(on_begun);
  waiting_ = std::move(run);
  asked_at_ = kernel::Clock::now();
  submit();
}

void ItemRun::submit() {
  RunObserver observer;
  observer.on_output = [this](kernel::Stream stream, std::string_view bytes) {
    (stream == kernel::Stream::stdout_stream ? stdout_ : stderr_).append(bytes);
  };
  observer.on_ended = [this](const RunRecord& record, const kernel::SandboxResult& result) {
    ended(record, result);
  };
  observer.on_refused = [this](const kernel::Error& error) { give_up(error); };
  if (on_begun_) observer.on_started = [this](const RunRecord&) { on_begun_(); };
  if (on_slot_) observer.on_slot = [this](const RunRecord&) { on_slot_(); };
  const auto id = runs_.submit(std::move(*waiting_), std::move(observer));
  if (id) {
    id_ = *id;
    waiting_.reset();  // with its channel, which the run alone shall hold
    if (on_slot_ && runs_.has_slot(id_)) on_slot_();
    return;
  }
  const bool is_patient = kernel::Clock::now() - asked_at_ < room_patience;
  if (id.error().code == ErrorCode::too_busy && is_patient)
    return timer_.start(room_interval, [this] { submit(); });
  over_soon(fault_of(id.error()));
}

void ItemRun::stop(const std::string& reason) {
  if (is_over_ || !is_started_ || stop_reason_) return;
  stop_reason_ = reason;
  stop_timer_.stop();
  if (!id_.empty()) {
    [[maybe_unused]] const auto stopped = runs_.stop(id_, kernel::Cause::killed_by_request, reason);
  } else if (waiting_) {
    over_soon({.cause = std::string(name_of(kernel::Cause::killed_by_request)), .detail = reason});
  }
}

void ItemRun::stop_after(milliseconds time, const std::string& reason) {
  if (is_over_ || !is_started_ || stop_reason_) return;
  stop_timer_.start(time, [this, reason] { stop(reason); });
}

std::optional<EndedRun> ItemRun::end() const {
  if (!result_) return std::nullopt;
  // What it ends of can be something else, although it was to be stopped.
  const bool stopped_here = stop_reason_ && result_->cause == kernel::Cause::killed_by_request &&
                            result_->detail == *stop_reason_;
  return ended_run(*result_, stopped_here);
}

void ItemRun::ended(const RunRecord& record, const kernel::SandboxResult& result) {
  result_ = result;
  degraded_ = record.degraded;
  cold_because_ = record.cold_because;
  over();
}

void ItemRun::give_up(const kernel::Error& error) {
  id_.clear();
  fault_ = fault_of(error);
  over();
}

// On a later turn: whoever asked is not called back from within its call.
void ItemRun::over_soon(Fault fault) {
  waiting_.reset();
  fault_ = std::move(fault);
  timer_.start(milliseconds(0), [this] { over(); });
}

void ItemRun::over() {
  is_over_ = true;
  stop_timer_.stop();
  on_over_();
}

}  // namespace paddock::supervisor
