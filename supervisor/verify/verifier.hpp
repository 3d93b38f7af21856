#pragma once
// Verifier: judges the items of all verify requests: so many at a time, fairly between tenants, and
// each once. An answer goes out when the ledger has it.
//
//   submit --> (ledger: answered before? nonces used?) --> waiting --> alive --> recording -->
//   answered
//
// The way in which an item is judged is a Judging's; who may ask, and under which profile, the
// caller's to have checked.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "supervisor/ledger/recorder.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/outcomes.hpp"
#include "supervisor/runs/run_queue.hpp"
#include "supervisor/runs/run_table.hpp"
#include "supervisor/verify/answer_finder.hpp"
#include "supervisor/verify/item_answer.hpp"
#include "supervisor/verify/judging.hpp"
#include "supervisor/verify/mac.hpp"
#include "supervisor/verify/recorded_answers.hpp"
#include "supervisor/verify/result_cache.hpp"
#include "supervisor/verify/verifier_limits.hpp"
#include "supervisor/verify/verify_batch.hpp"

namespace paddock::supervisor {

// Who asked for a batch. Called from the loop, never from within submit(). Each may call back into
// the verifier.
struct BatchObserver {
  // Each item once, in the order in which they end. `json`: the answer as it is on record.
  std::function<void(std::size_t index, const ItemAnswer& answer, const std::string& json)>
      on_answer;
  std::function<void(const GroupAnswer&)> on_group;      // after the last of its answers
  std::function<void()> on_end;                          // the last call, unless on_failure is
  std::function<void(const kernel::Error&)> on_failure;  // the only call: nothing ran
};

class Verifier {
 public:
  using BatchId = std::uint64_t;
  struct Parts {
    uv_loop_t* loop;
    RunTable& runs;
    Recorder& recorder;
    LookUpRecorded look_up;
    // Nothing if the tenant has none; fails if the one that it has cannot be used.
    std::function<kernel::Result<std::optional<MacKey>>(const std::string& tenant)> key_of;
    std::function<void(const ItemAnswer&)> on_verdict;  // for metrics; may be empty
  };

  // The parts outlive this. Those runs that are left when this goes must not end any more.
  Verifier(Parts parts, VerifierLimits limits);
  ~Verifier();
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  // Fails with too_busy if there is no room for all of its items, or if a request with the same
  // request_id is under way; with draining, and with not_recorded.
  kernel::Result<BatchId> submit(VerifyBatch batch, BatchObserver observer);

  // Nobody waits for it any more: its runs are stopped, and no observer is called.
  void cancel(BatchId id);
  // While paused, no more of its items are started: for a client that does not read.
  void pause(BatchId id, bool paused);

  // Items that wait are `shutdown`. Those that are alive go on as long as the run table lets them.
  void drain();

  // As the run table's: how many items a tenant may have alive.
  void set_tenant_limits(std::map<std::string, TenantLimits> limits);

  std::size_t queued() const { return queued_; }
  std::size_t alive() const { return queue_.alive(); }
  const VerifierLimits& limits() const { return limits_; }

 private:
  enum class Stage { waiting, alive, recording, answered };
  struct Entry {
    std::variant<ResolvedItem, RefusedItem> item;  // its code and tests only while it waits
    Stage stage = Stage::waiting;
    std::string id{};  // of the item; empty: it has none
    std::string group{};
    std::string nonce{};
    std::size_t bytes = 0;
    std::optional<double> reward{};       // as told to whoever asked
    std::optional<double> kept_reward{};  // as in the ledger, or on the way there
    bool from_ledger = false;
  };
  struct Group {
    std::vector<std::size_t> members;
    std::size_t open = 0;  // members without an answer
    bool is_recorded = false;
  };
  struct Batch {
    BatchId id = 0;
    VerifyBatch request;  // without its items
    BatchObserver observer;
    std::vector<Entry> entries;
    std::map<std::string, Group> groups;
    std::size_t open_items = 0;  // without an answer
    std::size_t open_groups = 0;
    std::size_t recording = 0;        // commits that are under way
    std::vector<std::size_t> parked;  // of those that wait: not in queue_ while it is paused
    bool has_begun = false;           // the ledger has answered
    bool is_paused = false;
    bool is_late = false;       // its deadline has passed
    bool is_cancelled = false;  // nobody waits for it any more
    kernel::Clock::time_point arrived_at;
    std::unique_ptr<Timer> deadline;
    std::unique_ptr<Timer> begin_timer;
  };
  struct Place {
    BatchId batch = 0;
    std::size_t index = 0;
  };
  struct Alive {
    Place place;
    std::unique_ptr<Judging> judging;
    bool is_answered = false;  // nobody waits for its end
  };

  static std::string key_of_place(Place place);
  Batch* find(BatchId id);

  kernel::Result<void> check_room(const VerifyBatch& batch) const;
  void ask_ledger(BatchId id, Batch& batch);
  void begin(BatchId id, const kernel::Result<RecordedAnswers>& recorded);
  void begin_item(Place place, const RecordedAnswers& recorded);
  void refuse(Place place, const RefusedItem& item);
  void answer_again(Place place, const std::string& json);
  void enqueue(Place place);
  void leave_queue(Batch& batch, Entry& entry);
  void free_nonce(const Batch& batch, const Entry& entry);

  void schedule_pump();
  void pump();
  void start(const std::string& key, Place place);
  void answer_from_cache(Place place, ItemAnswer answer);
  void judged(const std::string& key, JudgedItem result);
  ItemAnswer answer_of(const Batch& batch, const Alive& alive, JudgedItem result) const;
  ItemAnswer invalid(const Batch& batch, const ResolvedItem& item, std::string cause,
                     std::string detail) const;
  void answer_open(Place place, const std::string& cause, const std::string& detail);
  void abandon(Alive& alive, const std::string& why);
  std::vector<std::size_t> open_entries(const Batch& batch, bool also_alive) const;
  void pass_deadline(BatchId id);

  void record(Place place, ItemAnswer answer);
  void recorded(Place place, const ItemAnswer& answer, const std::string& json, bool is_recorded);
  void deliver(Place place, const ItemAnswer& answer, const std::string& json);
  void close_member(BatchId id, const std::string& name);
  void deliver_group(BatchId id, const GroupAnswer& group);
  void check_end(BatchId id);
  void erase_if_idle(BatchId id);

  Parts parts_;
  VerifierLimits limits_;
  RunQueue queue_;  // of items; its limits are kept here, so that parked ones count, too
  std::map<BatchId, Batch> batches_;
  std::map<std::string, Place> places_;  // of the items in the queue, by their names there
  std::map<std::string, Alive> alive_;
  std::vector<std::unique_ptr<Judging>> over_;              // to be taken away on the next turn
  std::set<std::pair<std::string, std::string>> requests_;  // tenant and request_id, under way
  std::set<std::pair<std::string, std::string>> nonces_;    // the same of nonces
  std::size_t queued_ = 0;
  std::size_t queued_bytes_ = 0;
  BatchId last_batch_ = 0;
  ResultCache cache_;
  AnswerFinder finder_;
  Outcomes outcomes_;
  Timer pump_timer_;
};

}  // namespace paddock::supervisor
