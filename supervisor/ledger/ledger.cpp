#include "supervisor/ledger/ledger.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds retry_after = 1s;
constexpr std::chrono::milliseconds prune_every = 10min;
constexpr std::size_t batch_max_transitions = 4096;

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::start(uv_loop_t* loop, const std::string& path,
                                              LedgerWriter writer, LedgerLimits limits) {
  LedgerReader reader = TRY(LedgerReader::open(path));
  std::unique_ptr<Ledger> ledger(
      new Ledger(loop, path, std::move(writer), std::move(reader), limits));
  ledger->reading_ = TRY(Worker::create(loop, "ledger-read"));
  ledger->writing_ = TRY(Worker::create(loop, "ledger-write"));
  ledger->prune_timer_ = new_timer(loop, ledger.get());
  const auto prune = [](uv_timer_t* timer) {
    auto* owner = owner_of<Ledger>(timer);
    if (owner == nullptr) return;
    owner->is_prune_due_ = true;
    owner->write_next();
  };
  uv_timer_start(ledger->prune_timer_.get(), prune, /*timeout=*/0,
                 static_cast<std::uint64_t>(prune_every.count()));
  uv_unref(reinterpret_cast<uv_handle_t*>(ledger->prune_timer_.get()));
  if (const Result<void> reserved = ledger->writer_.restore_reserve(); !reserved) {
    ledger->problem_ = ledger->failure_ = reserved.error().message;
    ledger->retry_later();
  }
  return ledger;
}

Ledger::Ledger(uv_loop_t* loop, std::string path, LedgerWriter writer, LedgerReader reader,
               LedgerLimits limits)
    : path_(std::move(path)),
      writer_(std::move(writer)),
      reader_(std::move(reader)),
      limits_(limits),
      head_(writer_.head().seq),
      refusal_timer_(loop),
      retry_timer_(loop),
      end_of_turn_(new_handle<uv_prepare_t>(this)) {
  uv_prepare_init(loop, end_of_turn_.get());  // only fills the struct: it cannot fail
}

Ledger::~Ledger() {
  [[maybe_unused]] const Result<void> lost = finish();
}

void Ledger::commit(Transition transition, IfUnwritten if_unwritten, OnCommitted on_committed) {
  if (writing_ == nullptr || (!is_writing() && if_unwritten == IfUnwritten::refuse)) {
    refuse_soon(std::move(on_committed));
    return;
  }
  waiting_.push_back({std::move(transition), if_unwritten, std::move(on_committed)});
  write_at_end_of_turn();
}

bool Ledger::is_writing() const {
  return problem_.empty();
}

void Ledger::on_growth(std::function<void(std::uint64_t)> on_growth) {
  on_growth_ = std::move(on_growth);
}

std::size_t Ledger::unwritten() const {
  return waiting_.size() + in_flight_.size();
}

// So that what one turn of the loop brings is one batch.
void Ledger::write_at_end_of_turn() {
  uv_prepare_start(end_of_turn_.get(), [](uv_prepare_t* prepare) {
    uv_prepare_stop(prepare);
    if (auto* owner = owner_of<Ledger>(prepare)) owner->write_next();
  });
}

// One thing at a time is under way: what comes meanwhile becomes the next batch.
void Ledger::write_next() {
  if (writing_ == nullptr || batch_ != nullptr || is_pruning_) return;
  const bool may_prune = is_prune_due_ && is_writing();
  const bool may_write = is_writing() ? !waiting_.empty() : is_retry_due_;
  if (may_write && !(may_prune && was_batch_last_)) {
    write_batch();
  } else if (may_prune) {
    prune_step();
  }
}

void Ledger::write_batch() {
  is_retry_due_ = false;
  was_batch_last_ = true;
  batch_ = std::make_shared<Batch>();
  while (!waiting_.empty() && in_flight_.size() < batch_max_transitions) {
    Waiting& next = waiting_.front();
    batch_->transitions.push_back(std::move(next.transition));
    batch_->if_unwritten.push_back(next.if_unwritten);
    in_flight_.push_back(std::move(next.on_committed));
    waiting_.pop_front();
  }
  const auto work = [this, batch = batch_] {
    write(writer_, *batch);
    reconnect_if_locked_out();
  };
  writing_->submit(work, [this] { end_batch(); });
}

void Ledger::prune_step() {
  is_pruning_ = true;
  was_batch_last_ = false;
  struct Step {
    Result<std::size_t> pruned{0};
    std::uint64_t head = 0;
  };
  const auto step = std::make_shared<Step>();
  writing_->submit(
      [this, step] {
        step->pruned = writer_.prune(limits_, std::chrono::system_clock::now());
        step->head = writer_.head().seq;
        reconnect_if_locked_out();
      },
      [this, step] { end_prune_step(step->pruned, step->head); });
}

void Ledger::end_prune_step(const Result<std::size_t>& pruned, std::uint64_t head) {
  is_pruning_ = false;
  // What cannot be pruned now is tried again when the timer comes again.
  if (!pruned || *pruned == 0) is_prune_due_ = false;
  write_next();
  grow_to(head);
}

void Ledger::on_turn(std::function<void()> on_turn) {
  on_turn_ = std::move(on_turn);
}

void Ledger::retry_later() {
  retry_timer_.start(retry_after, [this] {
    is_retry_due_ = true;
    write_next();
  });
}

void Ledger::end_batch() {
  const std::uint64_t head = batch_->head.seq;
  const bool has_failed = !failure_.empty();
  std::vector<Answered> answers = take_answers();
  if (!is_writing()) {
    refuse_waiting(answers);
    retry_later();
  }
  if (on_turn_ && has_failed != !failure_.empty()) on_turn_();
  write_next();  // before the answers: the disk works while they are given
  for (Answered& answer : answers)
    if (answer.on_committed) answer.on_committed(std::move(answer.result));
  grow_to(head);
}

// What was not written goes back to the front of what waits.
std::vector<Ledger::Answered> Ledger::take_answers() {
  const std::shared_ptr<Batch> batch = std::exchange(batch_, nullptr);
  std::vector<OnCommitted> callbacks = std::exchange(in_flight_, {});
  std::vector<Answered> answers;
  std::vector<Waiting> kept;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    if (batch->answers[i]) {
      answers.push_back({std::move(callbacks[i]), std::move(*batch->answers[i])});
    } else {
      kept.push_back(
          {std::move(batch->transitions[i]), IfUnwritten::keep, std::move(callbacks[i])});
    }
  }
  waiting_.insert(waiting_.begin(), std::make_move_iterator(kept.begin()),
                  std::make_move_iterator(kept.end()));
  problem_ = batch->problem;
  failure_ = batch->failure;
  return answers;
}

// Those that would only be refused do not wait for the disk to recover.
void Ledger::refuse_waiting(std::vector<Answered>& answers) {
  std::deque<Waiting> kept;
  for (Waiting& one : waiting_) {
    if (one.if_unwritten == IfUnwritten::keep) {
      kept.push_back(std::move(one));
    } else {
      answers.push_back({std::move(one.on_committed), fail(ErrorCode::not_recorded, problem_)});
    }
  }
  waiting_ = std::move(kept);
}

void Ledger::refuse_soon(OnCommitted on_committed) {
  refusals_.push_back(std::move(on_committed));
  if (refusal_timer_.is_running()) return;
  refusal_timer_.start(0ms, [this] {
    const std::string why = writing_ == nullptr ? "the ledger is closed" : problem_;
    for (const OnCommitted& refuse : std::exchange(refusals_, {}))
      if (refuse) refuse(fail(ErrorCode::not_recorded, why));
  });
}

// A lock that this process could not give back is given back when none of its connections is open.
// Where another program has the lock, nothing is lost by it.
void Ledger::reconnect_if_locked_out() {
  if (!writer_.is_locked_out()) return;
  const std::lock_guard lock(reader_mutex_);
  reader_.reset();
  // What fails here is tried again, and says why, by the next batch and the next question.
  [[maybe_unused]] const Result<void> connected = writer_.reconnect();
}

Result<LedgerReader*> Ledger::reader() {
  if (!reader_) reader_ = TRY(LedgerReader::open(path_));
  return &*reader_;
}

void Ledger::grow_to(std::uint64_t head) {
  if (head == head_) return;
  head_ = head;
  if (on_growth_) on_growth_(head);
}

Result<void> Ledger::finish() {
  if (writing_ == nullptr) return {};
  writing_.reset();  // what was under way is done now
  retry_timer_.stop();
  uv_prepare_stop(end_of_turn_.get());
  uv_timer_stop(prune_timer_.get());
  if (batch_ != nullptr) take_answers();
  Batch last;
  for (Waiting& one : std::exchange(waiting_, {})) {
    // Nothing has happened yet of those to be refused.
    if (one.if_unwritten == IfUnwritten::refuse) continue;
    last.transitions.push_back(std::move(one.transition));
    last.if_unwritten.push_back(IfUnwritten::keep);
  }
  reconnect_if_locked_out();
  write(writer_, last);
  head_ = last.head.seq;
  const auto lost = std::count(last.answers.begin(), last.answers.end(), std::nullopt);
  if (lost == 0) return {};
  return fail(ErrorCode::not_recorded,
              std::to_string(lost) + " transitions are not recorded: " + last.problem);
}

}  // namespace paddock::supervisor
