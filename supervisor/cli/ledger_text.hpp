#pragma once
// What `paddock ledger` prints. Pure; plain ASCII as far as a run's own words are.

#include <string>

#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/verify.hpp"

namespace paddock::supervisor::cli {

std::string verification_text(const Verification& found, const std::string& file);
std::string verification_json(const Verification& found, const std::string& file);

// Without the policy's text, which is long and known by its hash; the JSON has it.
std::string stored_run_text(const StoredRun& run, const std::string& file);
std::string stored_run_json(const StoredRun& run, const std::string& file);

}  // namespace paddock::supervisor::cli
