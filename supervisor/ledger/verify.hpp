#pragma once
// verify_ledger(): whether a ledger still says what was written to it. Reads all of it, one event
// at a time; works beside a daemon, on the state of one moment.

#include <cstdint>
#include <optional>
#include <string>

#include "kernel/base/error.hpp"
#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

// The first thing that does not fit.
struct LedgerEdit {
  std::uint64_t seq = 0;  // of the event that shows it; 0: none does
  std::string what;       // "event 7 has been edited"

  bool operator==(const LedgerEdit&) const = default;
};

struct Verification {
  std::uint64_t events = 0;  // checked
  std::uint64_t rows = 0;    // of runs, policies, agents, budgets and verdicts
  LedgerHead anchor;         // what has been pruned ends here; seq 0: nothing has
  LedgerHead head;
  std::optional<LedgerEdit> edit;  // absent: the ledger is whole

  bool operator==(const Verification&) const = default;
};

// "SEQ:HASH", as --head takes it.
std::string to_text(const LedgerHead& head);
// Fails with invalid_request.
kernel::Result<LedgerHead> parse_ledger_head(const std::string& text);

// `remembered` is a head that was noted elsewhere and must still be in the chain. Fails with
// not_found if there is no file, and with not_recorded if it cannot be read or if `remembered` has
// been pruned, so that nothing can be said about it.
kernel::Result<Verification> verify_ledger(const std::string& path,
                                           const std::optional<LedgerHead>& remembered);

}  // namespace paddock::supervisor
