#pragma once
// Canary: makes a small run to see that the daemon still can, and then has items judged whose
// verdicts are known. One at a time; whoever asks meanwhile waits for it, and for a while after it
// nobody needs another.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/run_table.hpp"

namespace paddock::supervisor {

constexpr std::chrono::milliseconds canary_fresh{10'000};
constexpr std::chrono::milliseconds canary_time_max{10'000};

struct Readiness {
  bool ready = false;
  std::string reason;           // why not
  std::string profile;          // of the last canary; empty if there was none
  std::string verify{};         // "ok", "unsupported" or "wrong"; empty if nothing was judged
  std::string verify_reason{};  // why it is unsupported

  bool operator==(const Readiness&) const = default;
};

// What a canary that is over says. Pure.
Readiness readiness_of(const RunRecord& canary);

// Items whose verdicts are known.
class CanaryItems {
 public:
  enum class State {
    right,
    unsupported,  // this host lacks what judging needs
    wrong,
  };
  struct Result {
    State state = State::right;
    std::string why{};  // of one that is not right

    bool operator==(const Result&) const = default;
  };
  using OnJudged = std::function<void(const Result&)>;

  virtual ~CanaryItems() = default;
  // Calls `on_judged` once, from the loop and not from within this call. One at a time.
  virtual void judge(const std::string& profile, OnJudged on_judged) = 0;
  // Ends it; `on_judged` still comes.
  virtual void stop(const std::string& reason) = 0;
};

// What they add to a run that went well. Pure.
Readiness with_items(Readiness readiness, const CanaryItems::Result& items);

class Canary {
 public:
  using MakeRun = std::function<kernel::Result<ResolvedRun>()>;
  using Problem = std::function<std::string()>;  // of the ledger; empty: there is none
  using OnAnswer = std::function<void(const Readiness&)>;

  // `runs` and `items` outlive the canary. Without `items` nothing is judged.
  Canary(uv_loop_t* loop, RunTable& runs, Problem ledger_problem, MakeRun make_run,
         CanaryItems* items = nullptr)
      : runs_(runs),
        ledger_problem_(std::move(ledger_problem)),
        make_run_(std::move(make_run)),
        items_(items),
        deadline_timer_(loop) {}
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;

  // Answers at once, or from the loop within `canary_time_max`. A failure is not remembered: the
  // next one who asks has it tried again.
  void ask(OnAnswer on_answer);

 private:
  void start();
  void finished(const RunRecord& canary);
  void pass_deadline();
  void conclude(const Readiness& readiness);
  void answer(const Readiness& readiness);

  RunTable& runs_;
  Problem ledger_problem_;
  MakeRun make_run_;
  CanaryItems* items_;
  Timer deadline_timer_;
  bool is_trying_ = false;
  std::string running_;      // the run's id; empty: there is none, or it is over
  std::string late_reason_;  // of one whose deadline has passed; empty: it has not
  std::optional<kernel::Clock::time_point> good_since_;
  Readiness good_;
  std::vector<OnAnswer> waiting_;  // each holds a connection, of which there are not too many
};

}  // namespace paddock::supervisor
