#pragma once
// Batch: what is written with one commit, and what becomes of it when it cannot be written.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/ledger/ledger_writer.hpp"
#include "supervisor/ledger/recorder.hpp"

namespace paddock::supervisor {

struct Batch {
  std::vector<Transition> transitions;
  std::vector<IfUnwritten> if_unwritten;  // of each

  // Filled by write(). Nothing: it is not written, and to be kept.
  std::vector<std::optional<kernel::Result<std::uint64_t>>> answers;
  // Why something is kept, or why the reserve is not restored; empty: all is well.
  std::string problem;
  // Why not all of it could be written at once, though by now it may be; empty: it could.
  std::string failure;
  LedgerHead head;
};

// Blocks. If all of it together cannot be written, those to be refused are, and as many of the
// others as fit are written, in order; on a full disk into the room of the reserve, which is
// restored as soon as nothing is kept.
void write(LedgerWriter& writer, Batch& batch);

}  // namespace paddock::supervisor
