#pragma once
// A run out of the ledger, as far as its end can be explained from it.

#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

// Without output. Fails with not_recorded if the ledger's events are not what this program writes.
kernel::Result<RunRecord> record_of(const StoredRun& stored);

}  // namespace paddock::supervisor
