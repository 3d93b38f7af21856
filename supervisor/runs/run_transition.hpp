#pragma once
// What the ledger is told of a run at each step of it. Pure: the same record, the same transition.

#include "supervisor/ledger/transition.hpp"
#include "supervisor/runs/output_digests.hpp"
#include "supervisor/runs/resolved_run.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

using SystemTime = std::chrono::system_clock::time_point;

// The state that the run is in from now on, and its first: what was asked for is in it.
enum class FirstState { queued, starting };

// Kept of each stream of a run, from its end; all that the daemon kept of it is in a digest.
inline constexpr std::size_t recorded_tail_bytes_max = 4096;

Transition admitted_transition(const RunRecord& run, const ResolvedRun& request, FirstState state,
                               SystemTime now);
Transition starting_transition(const RunRecord& run, SystemTime now);  // it was queued before
Transition running_transition(const RunRecord& run, SystemTime now);
// `result` is the run's, which its record has only when this is written; `digests` are of its
// output.
Transition finished_transition(const RunRecord& run, const kernel::SandboxResult& result,
                               const OutputDigests& digests, SystemTime now);

}  // namespace paddock::supervisor
