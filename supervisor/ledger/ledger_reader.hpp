#pragma once
// LedgerReader: questions to a ledger file, answered at once. It opens the file read-only, beside a
// daemon that writes it or without one. Used on the ledger's reading thread and by the CLI.

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

constexpr std::size_t verdicts_of_request_max = 10'000;

struct RunFilter {
  std::optional<std::string> state;
  std::optional<std::string> tenant;  // absent: of all tenants
  std::optional<std::string> agent;
  std::optional<std::string> parent_is_not{};
  std::size_t limit = 1000;  // of those that the rest lets through

  bool operator==(const RunFilter&) const = default;
};

struct EventFilter {
  std::uint64_t after = 0;            // seq; events after it
  std::optional<std::string> tenant;  // absent: of all tenants
  std::optional<std::string> subject;
  std::string kind_prefix;  // "run."; empty: all
  std::size_t limit = 1000;

  bool operator==(const EventFilter&) const = default;
};

// A run with the events that made it, oldest first; of a run that was there for longer than the
// ledger keeps events, the first ones are missing.
struct StoredRun {
  RunRow row;
  std::vector<StoredEvent> events;
  std::string policy_text;  // empty if it has been pruned

  bool operator==(const StoredRun&) const = default;
};

class LedgerReader {
 public:
  // Fails with not_found if there is no file, and with not_recorded if it is no ledger of ours.
  static kernel::Result<LedgerReader> open(const std::string& path);
  // The same without need of room on the disk, for who holds LockFile; fails also if any other
  // connection is open. The file can be read by nobody else as long as this lives.
  static kernel::Result<LedgerReader> open_alone(const std::string& path);
  LedgerReader(LedgerReader&&) noexcept;
  LedgerReader& operator=(LedgerReader&&) noexcept;
  ~LedgerReader();

  // Each fails with not_recorded if the file cannot be read.
  kernel::Result<std::optional<StoredRun>> run(const std::string& id);
  kernel::Result<std::vector<RunRow>> runs(const RunFilter& filter);  // last recorded first
  kernel::Result<std::vector<RunRow>> unfinished_runs();
  kernel::Result<std::vector<StoredEvent>> events(const EventFilter& filter);  // oldest first
  kernel::Result<std::vector<AgentRow>> agents();
  kernel::Result<std::vector<BudgetRow>> budgets();
  // The verdicts under this id, oldest first.
  kernel::Result<std::vector<VerdictRow>> verdicts_of(const std::string& tenant,
                                                      const std::string& request_id);
  // The groups whose end is recorded under this id.
  kernel::Result<std::set<std::string>> groups_of(const std::string& tenant,
                                                  const std::string& request_id);
  // Those of `nonces` that a verdict of this tenant has.
  kernel::Result<std::set<std::string>> nonces_seen(const std::string& tenant,
                                                    std::span<const std::string> nonces);
  kernel::Result<LedgerHead> head();  // of an empty ledger: seq 0

 private:
  struct Implementation;
  enum class Way { with_others, alone };
  static kernel::Result<LedgerReader> open_with(const std::string& path, Way way);
  explicit LedgerReader(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace paddock::supervisor
