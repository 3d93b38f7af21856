#pragma once
// Accountant: who is told what agents use. The agents know no budget beyond this.

#include <map>
#include <string>

#include "kernel/policy/agent_template.hpp"
#include "supervisor/agents/jsonl.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

// Called from the loop. It answers with AgentTable::budget_spent and budget_granted, from there or
// later.
class Accountant {
 public:
  virtual ~Accountant() = default;

  // Before each run: its limits are those of this template from now on.
  virtual void run_begins(const kernel::AgentTemplate& agent, const RunId& run) = 0;
  // What the agent says that it used. Fails with the reason why it is not charged.
  virtual kernel::Result<void> charge(const std::string& agent, const Charges& charges) = 0;
  // Once a second while its program runs: look at RunTable::usage.
  virtual void look(const std::string& agent, const RunId& run) = 0;
  // With the result: the rest of what it used.
  virtual void run_ended(const std::string& agent, const RunRecord& run) = 0;
  // What an agent is told at its start.
  virtual std::map<std::string, BudgetLine> lines(const std::string& agent) const = 0;
};

}  // namespace paddock::supervisor
