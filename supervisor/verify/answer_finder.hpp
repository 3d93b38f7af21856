#pragma once
// AnswerFinder: knows the known answers of tests that came before. It has them found when tests
// come a second time: those of a prompt with many samples do, and what comes once shall cost no run
// besides. They are found by a run of the judge that has no candidate.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "supervisor/runs/run_table.hpp"
#include "supervisor/verify/bounded_cache.hpp"
#include "supervisor/verify/item_run.hpp"
#include "supervisor/verify/judging.hpp"
#include "supervisor/verify/known_answers.hpp"

namespace paddock::supervisor {

// Runs beside the slots, as judges are. Tests that come while so many are under way wait for the
// next time that they come.
constexpr std::size_t finding_max = 2;
constexpr std::chrono::milliseconds finding_time_max{5'000};

class AnswerFinder {
 public:
  // `runs` outlives this.
  AnswerFinder(uv_loop_t* loop, RunTable& runs, CacheLimits limits = {});

  // Of the item that is judged next; nullptr: its tests have none, or they are not known yet.
  KnownAnswersPtr answers_for(const ResolvedItem& item);
  // What was known of these tests is not so.
  void has_none(const std::string& tenant, const std::string& tests_hash);
  // Nobody needs what is being found.
  void stop(const std::string& reason);

 private:
  // The hash of the tests covers all that decides how they judge.
  struct Key {
    std::string tenant;
    std::string tests_hash;

    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    enum class State { seen, finding, found };
    State state = State::seen;
    KnownAnswersPtr answers{};  // of what is found; nullptr: there are none
  };

  void keep(const Key& key, Entry entry);
  void find(const Key& key, const ResolvedItem& item);
  void found(const Key& key);

  uv_loop_t* loop_;
  RunTable& runs_;
  BoundedCache<Key, Entry> entries_;
  std::map<Key, std::unique_ptr<ItemRun>> finding_;
  std::unique_ptr<ItemRun> over_;  // to be taken away later: it is what calls
};

}  // namespace paddock::supervisor
