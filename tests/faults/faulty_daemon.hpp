#pragma once
// The daemon of the fault tests: the product's own, in which calls fail on demand, and what must be
// left of it when nothing runs: as much as before.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "faults/fault_board.hpp"
#include "support/daemon_fixture.hpp"

namespace paddock::faults {

// How often a sweep repeats: `variable`'s number, or `in_ctest` without it.
int repetitions(const char* variable, int in_ctest);

// The board as a test sees it.
class MappedBoard {
 public:
  MappedBoard();
  ~MappedBoard();
  MappedBoard(const MappedBoard&) = delete;
  MappedBoard& operator=(const MappedBoard&) = delete;

  const std::string& path() const { return path_; }
  Board* operator->() const { return board_; }

  // The call number `skip` (0: the next one) fails `times` times.
  void fail(Call call, int error, int skip = 0, int times = 1) const;
  // `while_writing`: at such a call while a transition of that kind is written; empty: at any.
  void die(Effect effect, Call call, int skip, const std::string& while_writing = "") const;
  // Nothing goes wrong any more. Returns how often something has.
  long clear() const;

 private:
  void arm(Effect effect, Call call, int error, int skip, int times) const;

  std::string path_;
  Board* board_ = nullptr;
};

// What a daemon holds.
struct Footprint {
  std::size_t descriptors = 0;
  std::size_t children = 0;  // zombies, too
  std::size_t mounts = 0;
  std::size_t workspaces = 0;
  std::size_t leaves = 0;  // cgroups of the runs that the test knows

  bool operator==(const Footprint&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Footprint& footprint);

class FaultyDaemon {
 public:
  explicit FaultyDaemon(DaemonOptions options = {});

  const MappedBoard& board() const { return board_; }
  DaemonFixture& daemon() { return *daemon_; }
  DaemonFixture* operator->() { return daemon_.get(); }

  // Runs it and remembers its id.
  nlohmann::json run(const nlohmann::json& request);
  // Asks for a run. True if it is refused as one that cannot be recorded.
  bool is_refused();
  void know(const std::string& id) { ids_.insert(id); }

  std::string ledger() const { return daemon_->directory().path("state/ledger.db"); }

  Footprint footprint() const;
  std::size_t memory_kib() const;  // resident
  // Fails the test unless the daemon soon holds no more than when it had started. Nobody else may
  // be connected.
  void check_nothing_left();

 private:
  MappedBoard board_;
  std::unique_ptr<DaemonFixture> daemon_;
  std::set<std::string> ids_;
  std::string cgroup_base_;
  Footprint at_start_;
};

// A request for a program that ends at once.
nlohmann::json quick(const std::string& profile = "OFF");

}  // namespace paddock::faults
