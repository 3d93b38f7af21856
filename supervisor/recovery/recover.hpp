#pragma once
// recover: what RFC 0006 says is done about a daemon that was killed, by its successor before it
// serves or by `paddock recover`.

#include <optional>
#include <string>
#include <vector>

#include "kernel/confine/cgroup_base.hpp"
#include "supervisor/ledger/ledger_writer.hpp"
#include "supervisor/recovery/remains.hpp"

namespace paddock::supervisor {

struct RecoveryOptions {
  std::string ledger;             // the path that the writer was opened on
  std::string runtime_directory;  // whose sockets are looked at
  std::optional<kernel::CgroupBase> cgroup_base{};
  Reach reach{};
};

struct RecoveredRun {
  std::string id;
  std::string state;  // that it was left in
  Remains remains;

  bool operator==(const RecoveredRun&) const = default;
};

struct RecoveryReport {
  std::vector<RecoveredRun> runs;
  std::vector<std::string> sockets;  // removed
  // Of all `runs`, if they could not be recorded, and why.
  std::vector<Transition> unrecorded;
  std::string problem;
};

// Holding `writer` is what makes this safe: no other daemon has these runs. Blocks, for some
// seconds at most. First what is left is ended, then that is recorded, on a full disk with the room
// of the reserve. If it cannot be, the report says so: the next call does that. Fails with
// not_recorded if the ledger cannot be read.
kernel::Result<RecoveryReport> recover(LedgerWriter& writer, const RecoveryOptions& options);

// The same for a ledger that could not be opened for writing, because of `problem`: killing does
// not wait for the disk. Fails with `problem` if it is no ledger, or somebody has it.
kernel::Result<RecoveryReport> recover_without_writing(const kernel::Error& problem,
                                                       const RecoveryOptions& options);

// One line for people: "2 runs of the last daemon: ..."; empty if there was nothing to do.
std::string summary_of(const RecoveryReport& report);

}  // namespace paddock::supervisor
