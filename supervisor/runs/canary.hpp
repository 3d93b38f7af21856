#pragma once
// Canary: makes a small run to see that the daemon still can. One at a time; whoever asks meanwhile
// waits for it, and for a while after it nobody needs another.

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
  std::string reason;   // why not
  std::string profile;  // of the last canary; empty if there was none

  bool operator==(const Readiness&) const = default;
};

// What a canary that is over says. Pure.
Readiness readiness_of(const RunRecord& canary);

class Canary {
 public:
  using MakeRun = std::function<kernel::Result<ResolvedRun>()>;
  using Problem = std::function<std::string()>;  // of the ledger; empty: there is none
  using OnAnswer = std::function<void(const Readiness&)>;

  // `runs` outlives the canary.
  Canary(uv_loop_t* loop, RunTable& runs, Problem ledger_problem, MakeRun make_run)
      : runs_(runs),
        ledger_problem_(std::move(ledger_problem)),
        make_run_(std::move(make_run)),
        deadline_timer_(loop) {}
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;

  // Answers at once, or from the loop within `canary_time_max`. A failure is not remembered: the
  // next one who asks has it tried again.
  void ask(OnAnswer on_answer);

 private:
  void start();
  void finished(const RunRecord& canary);
  void answer(const Readiness& readiness);

  RunTable& runs_;
  Problem ledger_problem_;
  MakeRun make_run_;
  Timer deadline_timer_;
  std::string running_;  // the run's id; empty: none
  bool is_late_ = false;
  std::optional<kernel::Clock::time_point> good_since_;
  std::string good_profile_;
  std::vector<OnAnswer> waiting_;  // each holds a connection, of which there are not too many
};

}  // namespace paddock::supervisor
