#pragma once
// What is to be done about the runs that a killed daemon left in its ledger. Pure.

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/process_mark.hpp"
#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

// A run that can have processes, and by what they are known.
struct LeftRun {
  std::string id;                          // the launchers' command lines and the cgroup have it
  std::vector<kernel::ProcessMark> marks;  // the launcher first; empty: it was not recorded yet
  std::optional<uid_t> host_uid;           // of its own, as it was seen

  bool operator==(const LeftRun&) const = default;
};

// What was found of one, and what became of it.
struct Remains {
  std::size_t killed = 0;  // processes that recovery had to kill; those of a cgroup are not counted
  bool gone = true;        // proved: nothing that it is known by is left

  bool operator==(const Remains&) const = default;
};

// `unfinished` with the host uid that was recorded for each, if one was; only of those that can
// have processes. A mark of another boot is left out: nothing of that can be left.
struct UnfinishedRun {
  RunRow row;
  std::optional<uid_t> host_uid;

  bool operator==(const UnfinishedRun&) const = default;
};
std::vector<LeftRun> what_can_be_left(const std::vector<UnfinishedRun>& unfinished,
                                      const std::string& boot_id);

// run.finished with the cause daemon_restart.
Transition restart_transition(const RunRow& unfinished, const Remains& remains,
                              std::chrono::system_clock::time_point now);

// The host_uid in the body of a run.running event; absent where it has none.
std::optional<uid_t> recorded_host_uid(std::string_view body);

// The same of its cgroup, as /proc showed it, if that is a leaf of this run's own.
std::optional<std::string> recorded_leaf(std::string_view body, std::string_view id);

}  // namespace paddock::supervisor
