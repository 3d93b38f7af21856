#pragma once
// BudgetBook: the budgets of all agents. It charges what runs are measured to use and what agents
// say, tells the ledger, and whom it concerns when a budget is spent or no longer so.
//
// What an agent charges itself within a second is one transition, and so is what it is measured to
// use within ten: neither an agent that charges itself all the time nor one that lives for weeks
// must fill the ledger. What crosses a threshold is told at once.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "supervisor/agents/accountant.hpp"
#include "supervisor/agents/budget.hpp"
#include "supervisor/ledger/recorder.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/run_table.hpp"

namespace paddock::supervisor {

// All of it outlives the book. The functions are called from the loop, never within a call.
struct BudgetContext {
  uv_loop_t* loop;
  RunTable& runs;
  Recorder& recorder;
  std::function<void(const std::string& agent)> on_spent;
  std::function<void(const std::string& agent)> on_granted;
};

class BudgetBook final : public Accountant {
 public:
  explicit BudgetBook(BudgetContext context)
      : context_(std::move(context)), flush_timer_(context_.loop) {}
  ~BudgetBook() override;  // records what is not recorded yet
  BudgetBook(const BudgetBook&) = delete;
  BudgetBook& operator=(const BudgetBook&) = delete;

  // As the last daemon left them; before anything else.
  void restore(const std::vector<BudgetRow>& rows);
  // The limits of these templates are in force from now on.
  void set_limits(const std::map<std::string, kernel::AgentTemplate>& agents);

  // Recorded before it is answered. Fails with invalid_request as Budget::grant, and with
  // not_recorded while the ledger cannot be written.
  void grant(const kernel::AgentTemplate& agent, const std::string& dimension, std::uint64_t amount,
             std::function<void(kernel::Result<void>)> on_answer);

  const Budget* find(const std::string& agent) const;

  void run_begins(const kernel::AgentTemplate& agent, const RunId& run) override;
  kernel::Result<void> charge(const std::string& agent, const Charges& charges) override;
  void look(const std::string& agent, const RunId& run) override;
  void run_ended(const std::string& agent, const RunRecord& run) override;
  std::map<std::string, BudgetLine> lines(const std::string& agent) const override;

 private:
  // What was measured of the present run.
  struct Meter {
    RunId run;
    std::uint64_t cpu_us = 0;
    std::uint64_t written_bytes = 0;
    std::optional<kernel::Clock::time_point> looked_at;
  };
  struct Account {
    Budget budget;
    std::string tenant;
    Meter meter;
    std::uint64_t cpu_rest_us = 0;  // less than a whole second, here and below
    std::uint64_t wall_rest_us = 0;
    // Not told yet.
    BudgetNews news;
    bool has_new_limits = false;
    bool is_spent_anew = false;
    bool may_go_on = false;
  };

  Account& account(const kernel::AgentTemplate& agent);
  void measure(const std::string& agent, Account& account, std::uint64_t cpu_us,
               std::uint64_t written_bytes, std::chrono::microseconds wall);
  void note(const std::string& agent, Account& account, const BudgetNews& news,
            std::chrono::milliseconds tell_within);
  void flush_within(std::chrono::milliseconds time);
  void flush();
  void record(const std::string& agent, Account& account);

  BudgetContext context_;
  std::map<std::string, Account> accounts_;
  std::set<std::string> changed_;
  Timer flush_timer_;
  kernel::Clock::time_point flush_at_;
};

}  // namespace paddock::supervisor
