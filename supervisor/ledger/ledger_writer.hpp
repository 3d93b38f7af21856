#pragma once
// LedgerWriter: the one connection that changes a ledger file. Everything here blocks; the daemon
// calls it on the ledger's writing thread, recovery before there is a loop.

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernel/base/error.hpp"
#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

enum class LedgerSync {
  full,    // a commit survives a power cut
  normal,  // it survives the end of this process
};

struct LedgerLimits {
  std::chrono::hours keep{24 * 30};
  std::uint64_t keep_bytes = 4ull << 30;

  bool operator==(const LedgerLimits&) const = default;
};

class LedgerWriter {
 public:
  // Makes the file (0600) if there is none, and brings an older schema up to date. Holds
  // LockFile beside it until it is destroyed. Fails with not_recorded: somebody else holds it (and
  // who), it is no ledger, it is damaged, it is newer than this program, or there is no room: not
  // even with the reserve, which is given up for this. Without room for the reserve alone it opens.
  static kernel::Result<LedgerWriter> open(const std::string& path, LedgerSync sync);
  LedgerWriter(LedgerWriter&&) noexcept;
  LedgerWriter& operator=(LedgerWriter&&) noexcept;
  ~LedgerWriter();

  // The newest committed event; seq 0 if there is none.
  const LedgerHead& head() const;

  // All of them in one SQL transaction with one sync, or none. Returns the first one's seq; the
  // others follow. Fails with not_recorded.
  kernel::Result<std::uint64_t> apply(std::span<const Transition> transitions);

  // Whether the last failure was for want of room: then giving up the reserve may help.
  bool is_full() const;

  // Whether the last failure was a lock that could not be had. Mostly another program has it, for a
  // while. But a lock that could not be given back is this process's own as long as one of its
  // connections to the file is open, and keeps all of them out: then reconnect() helps.
  bool is_locked_out() const;

  // Closes the connection and opens it again. No other connection of this process may be open. If
  // that fails (not_recorded), apply() and prune() try it again.
  kernel::Result<void> reconnect();

  // Deletes what `limits` no longer keep, oldest first, at most 250 events a call, and
  // appends a ledger.pruned that says so. Runs that are not finished keep their rows. Returns how
  // many; call again until 0.
  kernel::Result<std::size_t> prune(const LedgerLimits& limits,
                                    std::chrono::system_clock::time_point now);

  // Gives the space of the reserve file (`path` with .reserve for .db) to the ledger, or takes it
  // back. No-ops where it is so.
  void release_reserve();
  kernel::Result<void> restore_reserve();
  bool has_reserve() const;

 private:
  struct Implementation;
  explicit LedgerWriter(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace paddock::supervisor
