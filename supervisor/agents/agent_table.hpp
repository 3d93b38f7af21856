#pragma once
// AgentTable: the long-running agents of the daemon. What is asked of one is recorded before it is
// done; what was wanted when the last daemon ended is started again.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "supervisor/agents/live_agent.hpp"
#include "supervisor/agents/stop_records.hpp"

namespace paddock::supervisor {

// What became of what was asked.
struct AgentAnswer {
  bool changed = false;  // there was something to do
  bool recorded = true;  // false: done, and not in the ledger yet, which cannot be written

  bool operator==(const AgentAnswer&) const = default;
};

kernel::Error no_agent(const std::string& name);  // unknown_agent

class AgentTable {
 public:
  explicit AgentTable(AgentContext context);
  ~AgentTable();
  AgentTable(const AgentTable&) = delete;
  AgentTable& operator=(const AgentTable&) = delete;

  // Before the first run of anybody: no run may get a uid that a workspace belongs to. Logs what
  // cannot be kept.
  void keep_uids();
  // At the daemon's start: what was wanted, and what starts with every daemon.
  void start_wanted(const std::vector<AgentRow>& rows);
  // After a reload: what it added and starts with the daemon, unless it was stopped by hand.
  void start_added();

  // What an operator asks for. `on_answer` is called once, from the loop or from here, when it is
  // recorded. Fails with unknown_agent, draining, or not_recorded. What has to end ends at once,
  // also where that cannot be recorded yet: then the answer says so, after a while.
  using OnAnswer = std::function<void(kernel::Result<AgentAnswer>)>;
  void start(const std::string& name, const OnAnswer& on_answer);
  void stop(const std::string& name, const OnAnswer& on_answer);
  void restart(const std::string& name, const OnAnswer& on_answer);

  // Of its budget. No-ops for an agent that is not known.
  void budget_spent(const std::string& name);
  void budget_granted(const std::string& name);

  // Nothing if there is no such agent: neither a template nor one that still runs without.
  std::optional<AgentStatus> status(const std::string& name) const;
  // State -> how many agents are in it, templates that were never started included.
  std::map<std::string, std::size_t> count_by_state() const;
  // Those that are in no catalog any more and still run.
  std::vector<kernel::AgentTemplate> removed() const;
  AgentLog* log(const std::string& name);  // nullptr: no such agent

  // `on_change` is called from the loop each time the status of that agent has changed, until it is
  // taken away; it may take itself away.
  using ObserverId = std::uint64_t;
  ObserverId observe(const std::string& name, std::function<void(const AgentStatus&)> on_change);
  void unobserve(ObserverId observer) { observers_.erase(observer); }

  // After a drain of the runs that was cancelled: what it stopped and is wanted starts again.
  void start_again();

  // Everything stops, nothing starts any more, and what is wanted stays so.
  void drain();

 private:
  struct Observer {
    std::string name;
    std::function<void(const AgentStatus&)> on_change;
  };

  void begin_by_itself(const std::string& name, const std::string& by);
  const kernel::AgentTemplate* find_template(const std::string& name) const;
  LiveAgent& live(const kernel::AgentTemplate& agent);
  LiveAgent* find(const std::string& name);
  const LiveAgent* find(const std::string& name) const;
  void begin(const std::string& name, const std::string& by, LiveAgent::Event event,
             const OnAnswer& on_answer);
  void changed(const std::string& name);
  void look();

  AgentContext context_;
  std::map<std::string, std::unique_ptr<LiveAgent>> agents_;
  std::map<std::string, kernel::HostUidLease> uids_;
  std::map<std::string, std::uint64_t> asks_;   // how often something was asked of an agent
  std::map<std::string, std::uint64_t> stops_;  // which of these was its newest stop
  StopRecords stop_records_;
  std::set<std::string> unwanted_;   // recorded as stopped, and not started since
  std::set<std::string> templates_;  // that the catalog had when it was last looked at
  std::map<ObserverId, Observer> observers_;
  ObserverId last_observer_ = 0;
  Timer look_timer_;
  bool draining_ = false;
};

}  // namespace paddock::supervisor
