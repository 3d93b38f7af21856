#pragma once
// Parts of RFC 0002's run as JSON, which are also what the ledger keeps of it.

#include <nlohmann/json_fwd.hpp>

#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

enum class WithOutput { no, yes };

nlohmann::ordered_json result_object(const kernel::SandboxResult& result, WithOutput with_output);

// What confines the run, as it was observed; without that only what is asked for.
nlohmann::ordered_json confinement_object(const RunRecord& run);

// Whether it was a fork, of one that asked for it: "warm", and "cold_because" if it was none.
void add_warmth(nlohmann::ordered_json& object, const RunRecord& run);

}  // namespace paddock::supervisor
