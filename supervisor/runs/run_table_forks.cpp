// RunTable's runs that ask to be forks (rfcs/0013): their start, their loss before the gate, and
// their end where that may be their zygote's.

#include <utility>

#include "supervisor/runs/run_table.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Cause;
using std::chrono::milliseconds;

// For the end of a zygote to be seen after that of its fork.
constexpr milliseconds doubt_time_max{2000};
constexpr milliseconds doubt_interval{10};

// Of a fork that was over before its gate.
WarmSource::Suspect suspect_of(const kernel::Run& run, const kernel::SandboxResult& result) {
  const bool was_born = run.launcher() > 0;
  const bool is_clean =
      !result.receipt && !result.survivors_unproved && result.cause != Cause::tampered;
  return was_born && is_clean ? WarmSource::Suspect::fork : WarmSource::Suspect::zygote;
}

}  // namespace

// False: it is to be cold.
bool RunTable::start_warm(Entry& entry) {
  const auto& wish = entry.request.warm;
  if (!wish) return false;
  RunRecord& record = entry.record;
  record.warm = false;
  if (warm_ == nullptr) {
    record.cold_because = "nothing here keeps zygotes";
    return false;
  }
  const ResolvedRun& request = entry.request;
  const auto& argv = wish->argv.empty() ? argv_of(entry) : wish->argv;
  auto fork = warm_->start(wish, request.policy, record.policy_hash, record.tenant, argv, record.id,
                           options_of(entry, request.stdin_bytes));
  if (!fork.run) {
    record.cold_because = std::move(fork.cold_because);
    return false;
  }
  record.warm = true;
  entry.is_trial = true;
  go_live(entry, std::move(fork.run));
  return true;
}

void RunTable::pass_gate(Entry& entry) {
  if (!std::exchange(entry.is_trial, false)) return;
  entry.request.channel.reset();
  entry.request.stdin_bytes = {};
  warm_->gate_opened(entry.record.id);
}

// Nobody wants it any more.
void RunTable::stopped_before_gate(const Entry& entry, const kernel::SandboxResult& result) {
  warm_->lost(entry.record.id, WarmSource::Lost::stopped, suspect_of(entry.live->run(), result),
              {});
}

// It has run nothing, so nobody has heard of it: its record and its client get the cold one.
void RunTable::start_again(Entry& entry) {
  const RunId id = entry.record.id;
  const kernel::SandboxResult lost = entry.live->run().take_result();
  const WarmSource::Suspect suspect = suspect_of(entry.live->run(), lost);
  alive_.erase(id);
  entry.live.reset();
  entry.is_trial = false;
  if (lost.survivors_unproved || lost.cause == Cause::tampered) strays_.look_now();
  RunRecord& record = entry.record;
  const bool has_receipt = lost.cause == Cause::cannot_isolate && record.receipt.has_value();
  record.receipt.reset();
  record.warm = false;
  record.cold_because =
      (has_receipt ? "the receipt of its fork did not match: " : "its fork was lost: ") +
      (lost.detail.empty() ? std::string(kernel::name_of(lost.cause)) : lost.detail);
  warm_->lost(id, WarmSource::Lost::by_itself, suspect, record.cold_because);
  start_cold(entry);
}

// A fork ends with its zygote, which looks as if its own launcher had been killed. That the zygote
// is gone can be seen a little later.
void RunTable::doubt(Entry& entry, kernel::SandboxResult result) {
  entry.stage = Stage::doubtful;
  entry.result = std::move(result);
  entry.doubted_until = kernel::Clock::now() + doubt_time_max;
  entry.doubt_timer = std::make_unique<Timer>(loop_);
  ask_for_zygote(entry);
}

void RunTable::ask_for_zygote(Entry& entry) {
  const RunId id = entry.record.id;
  const bool is_lost = warm_->has_lost_zygote(id);
  if (!is_lost && kernel::Clock::now() < entry.doubted_until)
    return entry.doubt_timer->start(doubt_interval,
                                    [this, id] { ask_for_zygote(*this->entry(id)); });
  kernel::SandboxResult result = *std::exchange(entry.result, std::nullopt);
  if (is_lost) {
    result.cause = Cause::internal;
    result.detail = "its zygote was killed";
  }
  finish(entry, std::move(result));
}

}  // namespace paddock::supervisor
