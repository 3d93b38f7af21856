#pragma once
// Judging: one item while it is judged. Each way to judge is a class that owns its runs; none of
// them knows of queues, of other items, or of what becomes of its result.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/runs/run_table.hpp"
#include "supervisor/runtimes/runtime.hpp"
#include "supervisor/verify/item.hpp"
#include "supervisor/verify/known_answers.hpp"
#include "supervisor/verify/verdict_of_run.hpp"

namespace paddock::supervisor {

// An item with all that its runs need: it only has to be judged.
struct ResolvedItem {
  Item item;
  std::string tenant;
  Stop stop = Stop::all;
  std::shared_ptr<const kernel::SandboxPolicy> candidate_policy;
  // Of the judge and the compiler: with the limits of the profile, not those of the item.
  std::shared_ptr<const kernel::SandboxPolicy> judge_policy;
  std::string policy_hash;                 // the candidate's
  std::shared_ptr<const Runtime> runtime;  // of tests of kind stdio
  bool is_canary = false;                  // and so is each of its runs
  // What its runs want to be forks of; null: nothing. See VerifyWishes.
  std::shared_ptr<const WarmWish> candidate_warm{};
  std::shared_ptr<const WarmWish> judge_warm{};
  KnownAnswersPtr known{};  // nullptr: a judge asks
};

struct JudgedItem {
  Judgement judgement;
  std::vector<std::string> degraded;
  std::string stdout_tail;
  std::string stderr_tail;
  std::string cold_because{};     // of runs that wanted to be forks and were none
  bool by_known_answers = false;  // no judge had to look at what the candidate answered
  bool tests_unsteady = false;    // they ask something else than they did: nothing of them is known
};

class Judging {
 public:
  // Once, from the loop, when every run is over. May destroy the Judging, but not before it has
  // returned.
  using OnOver = std::function<void(JudgedItem)>;

  virtual ~Judging() = default;
  // At once or later; never more than once.
  virtual void start() = 0;
  // Ends every run; OnOver still comes.
  virtual void stop(const std::string& reason) = 0;
  virtual std::vector<RunId> runs()
      const = 0;  // those that there are or were, the candidate's first
  // When the first run had its slot.
  virtual std::optional<kernel::Clock::time_point> slot_at() const = 0;
};

// The way that the item asks for.
std::unique_ptr<Judging> make_judging(uv_loop_t* loop, RunTable& runs, ResolvedItem item,
                                      Judging::OnOver on_over);

}  // namespace paddock::supervisor
