#pragma once
// PoolMachine: which zygote a run is a fork of, when another one is started, and when one is ended.
// Pure: it is told what happens and when, and says what is to be done. It knows zygotes and runs by
// their names.
//
//   starting --> ready <--> busy        each, in the end: --> ending --> gone
//
// There are as many zygotes of a kind as runs wanted to be its forks at a time, and not more than
// its limits say. None is started for a run that waits for it: the run is cold.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/runs/warm_source.hpp"

namespace paddock::supervisor {

using ZygoteName = std::string;
using ZygoteKind = std::string;  // kernel::zygote_key

enum class ZygoteState { starting, ready, busy, ending };
std::string_view name_of(ZygoteState state);

enum class ZygoteEnd {
  idle,
  runs,       // it has had all that it may have
  memory,     // it became larger than it may be
  evicted,    // another kind needed its place
  renewed,    // what it was made from may have changed, or nothing shall run now
  not_ready,  // in time
  no_answer,  // to a run that was to be its fork
  lost_run,   // before its gate
  died,
};
std::string_view name_of(ZygoteEnd end);

struct PoolLimits {
  std::size_t zygotes_max = 16;  // of all kinds together
  std::size_t starting_max = 2;  // at a time
  std::size_t slots = 4;         // what 0 zygotes of a kind means
};

inline constexpr std::size_t zygote_kinds_max = 64;
inline constexpr std::chrono::milliseconds zygote_ready_time_max{10'000};
inline constexpr std::chrono::milliseconds zygote_answer_time_max{2'000};
inline constexpr std::chrono::milliseconds zygote_back_off_first{1'000};
inline constexpr std::chrono::milliseconds zygote_back_off_most{60'000};
// One that another kind may take the place of has had no run for so long.
inline constexpr std::chrono::milliseconds zygote_evicted_after{1'000};
// So many in a row that were lost by themselves, and it may be the zygote's doing after all.
inline constexpr std::size_t zygote_losses_max = 3;
// How many forks before its last its replacement may be started.
inline constexpr std::size_t zygote_replaced_ahead = 8;

class PoolMachine {
 public:
  using Time = kernel::Clock::time_point;
  struct Order {
    enum class What { start, end } what = What::start;
    ZygoteKind kind{};
    ZygoteName zygote{};              // of `end`
    ZygoteEnd why = ZygoteEnd::idle;  // of `end`

    bool operator==(const Order&) const = default;
  };
  struct Choice {
    std::optional<ZygoteName> zygote;
    std::string cold_because{};  // if there is none
  };

  explicit PoolMachine(PoolLimits limits) : limits_(limits) {}

  // Runs: each comes once with run_wants and goes with run_over.
  Choice run_wants(const RunId& run, const ZygoteKind& kind, const ZygoteLimits& limits, Time now);
  void run_is_cold(const RunId& run,
                   std::optional<ZygoteEnd> zygote_is);  // of one that had a choice
  // It was born, and over before its gate. by_itself: nobody had it stopped, and so it is cold now.
  void run_is_lost(const RunId& run, bool by_itself);
  void gate_opened(const RunId& run);
  void run_over(const RunId& run, Time now);

  // Zygotes: the name of one that was ordered, which may fail to start at once.
  void zygote_started(const ZygoteKind& kind, const ZygoteName& name, Time now);
  void zygote_not_started(const ZygoteKind& kind, Time now);
  void zygote_ready(const ZygoteName& name, Time now);
  void zygote_weighed(const ZygoteName& name, std::uint64_t bytes);
  // Its process is gone. True if that was not ordered.
  bool zygote_gone(const ZygoteName& name, Time now);

  // All that there are now go: ready ones at once, and others as soon as they have no run.
  void renew();

  // What is to be done now, each order once.
  std::vector<Order> decide(Time now);
  // When to ask again, if nothing happens.
  std::optional<Time> next_time(Time now) const;

  bool knows(const ZygoteKind& kind) const { return kinds_.contains(kind); }
  std::vector<ZygoteName> to_be_weighed()
      const;  // ready, and with forks since it was the last time
  std::size_t count(ZygoteState state) const;
  std::optional<ZygoteName> zygote_of(const RunId& run) const;  // none: it is gone, or never was
  ZygoteState state_of(const ZygoteName& name) const;           // `ending` of one that is not there

 private:
  struct Zygote {
    ZygoteKind kind;
    ZygoteState state = ZygoteState::starting;
    Time since;  // in its state
    std::size_t forks = 0;
    std::size_t forks_weighed = 0;
    std::uint64_t bytes = 0;
    bool has_answered = false;  // the run that it has now is past its gate
    bool is_good = false;       // one of its runs was past its gate
    std::size_t losses = 0;     // forks in a row that were lost by themselves
    std::optional<ZygoteEnd> shall_end{};
  };
  struct Kind {
    ZygoteLimits limits;
    std::size_t failures = 0;  // zygotes in a row that were of no use
    std::optional<Time> not_before{};
    Time used_at;
  };
  struct Run {
    ZygoteKind kind;
    std::optional<ZygoteName> zygote{};  // none: it is cold
  };

  std::size_t most_of(const Kind& kind) const;
  bool is_worn(const Zygote& zygote) const;
  std::optional<ZygoteEnd> reason_to_end(const Zygote& zygote, Time now) const;
  std::optional<Time> time_of(const Zygote& zygote) const;
  bool wants_more(const ZygoteKind& name, const Kind& kind) const;
  std::optional<ZygoteName> least_used(const ZygoteKind& but_not, Time now) const;
  void end(const ZygoteName& name, ZygoteEnd why, Time now, std::vector<Order>& orders);
  void note_failure(Kind& kind, Time now);
  bool make_room_for_kind();
  std::size_t starting() const { return count(ZygoteState::starting) + ordered_total_; }

  PoolLimits limits_;
  std::map<ZygoteKind, Kind> kinds_;
  std::map<ZygoteName, Zygote> zygotes_;
  std::map<RunId, Run> runs_;
  std::map<ZygoteKind, std::size_t> ordered_;  // and not started yet
  std::size_t ordered_total_ = 0;
};

}  // namespace paddock::supervisor
