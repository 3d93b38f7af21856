#pragma once
// ResolvedRun: a request that was checked and resolved. It only has to be started.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/fd.hpp"
#include "kernel/policy/policy.hpp"
#include "supervisor/runs/recorded_argv.hpp"
#include "supervisor/runs/warm_source.hpp"

namespace paddock::supervisor {

// Stands in the ledger as the parent of a canary, which no run has asked for.
inline constexpr std::string_view canary_parent = "canary";

struct ResolvedRun {
  kernel::SandboxPolicy policy;
  std::vector<std::string> argv;
  // What is recorded and shown of argv, where that is known before; null: made of it.
  std::shared_ptr<const RecordedArgv> recorded{};
  std::string cwd;
  std::string agent;
  std::string tenant;
  std::string parent{};  // the run that asks for this one; empty: none
  std::string stdin_bytes;
  bool stdin_open = false;
  bool is_canary = false;  // in no list, and forgotten at its end
  // What its program gets as kernel::channel_fd. The table drops it as soon as the run has a
  // process, or ends without one; whoever keeps a copy keeps the descriptor open.
  std::shared_ptr<kernel::Fd> channel{};
  // Starts at once, whatever waits, and takes no slot: for the judge of a candidate that has one,
  // and would keep it while its judge waits. Neither the queue nor the slots bound how many there
  // are, nor how much input they hold: whoever submits them does.
  bool beside_slots = false;
  // An executable memory file that argv names as kernel::program_path; -1: none. It lives as long
  // as the process.
  int program = -1;
  std::size_t channel_bytes = 0;           // that the channel holds while the run waits
  std::shared_ptr<const WarmWish> warm{};  // null: it does not ask to be a fork
};

}  // namespace paddock::supervisor
