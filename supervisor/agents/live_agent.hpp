#pragma once
// LiveAgent drives one AgentMachine: its run in the RunTable, its timer, its log, and what the
// ledger is told. No decision is taken here.

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "kernel/run/sandbox.hpp"
#include "supervisor/agents/accountant.hpp"
#include "supervisor/agents/agent_log.hpp"
#include "supervisor/agents/agent_machine.hpp"
#include "supervisor/agents/agent_place.hpp"
#include "supervisor/agents/agent_status.hpp"
#include "supervisor/agents/jsonl.hpp"
#include "supervisor/agents/message_pace.hpp"
#include "supervisor/config/catalog_store.hpp"
#include "supervisor/config/health_store.hpp"
#include "supervisor/ledger/recorder.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/run_table.hpp"

namespace paddock::supervisor {

// What all agents share. All of it outlives them.
struct AgentContext {
  uv_loop_t* loop;
  const kernel::Sandbox& sandbox;
  RunTable& runs;
  Recorder& recorder;
  const CatalogStore& catalog;
  const HealthStore& health;
  Worker& disk_worker;
  std::string state_directory;       // without a symbolic link in it
  std::function<double()> random{};  // in [0, 1)
  Accountant* accountant = nullptr;  // none: nothing is charged
};

class LiveAgent {
 public:
  // `on_change` is called from the loop each time status() has changed.
  LiveAgent(const AgentContext& context, const kernel::AgentTemplate& agent,
            std::function<void()> on_change);
  ~LiveAgent();
  LiveAgent(const LiveAgent&) = delete;
  LiveAgent& operator=(const LiveAgent&) = delete;

  using Event = std::variant<StartAsked, StopAsked, RestartAsked, RunRefused, RunStarted,
                             ReadyReceived, ExitReceived, RunEnded, TimePassed, BudgetSpent,
                             BudgetGranted, FreezeFailed, DrainBegun>;

  // The template of runs from the next one on.
  void set_template(const kernel::AgentTemplate& agent) { next_template_ = agent; }
  void set_wanted(bool wanted) { wanted_ = wanted; }
  bool is_wanted() const { return wanted_; }
  bool is_done() const { return !wanted_ && status_.last_end.has_value(); }
  void tell(Event event);  // not from within on_change
  void look();             // once a second

  AgentState state() const { return machine_.state(); }
  AgentStatus status() const;
  const kernel::AgentTemplate& agent() const { return next_template_; }
  AgentLog& log() { return log_; }

 private:
  void tell_later(Event event);
  void process();
  void perform(Action action);
  void start_run();
  kernel::Result<RunId> submit_run();
  void send(const std::string& message);
  std::string stop_reason() const;
  void record(const std::string& kind);
  void record_stopped();

  void run_started(const RunRecord& run);
  void take_output(kernel::Stream stream, std::string_view bytes);
  void take_line(kernel::Stream stream, const LineSplitter::Line& line, std::vector<LogLine>& out);
  bool take_message(std::string_view text, std::vector<LogLine>& out);
  void run_finished(const RunRecord& run);
  void write(std::vector<LogLine> lines);
  void write_unfinished_lines();
  void pause_if_too_fast();
  void go_on_reading();
  LogLine log_line(std::string stream, std::string_view text) const;
  void keep_tail(std::string_view bytes);

  const AgentContext& context_;
  std::function<void()> on_change_;
  kernel::AgentTemplate template_;  // of the run
  kernel::AgentTemplate next_template_;
  AgentMachine machine_;
  AgentLog log_;
  std::optional<AgentPlace> place_;
  Timer timer_;  // the machine's
  Timer soon_;   // for what was seen within an event of the run
  std::deque<Event> events_;
  bool processing_ = false;
  bool wanted_ = false;

  RunId run_;
  std::optional<kernel::Clock::time_point> program_began_;
  bool output_paused_ = false;
  MessagePace pace_;
  Timer pace_timer_;  // while it has said too much
  LineSplitter stdout_lines_;
  LineSplitter stderr_lines_;
  kernel::Clock::time_point stdout_at_;  // when it last wrote there
  kernel::Clock::time_point stderr_at_;
  std::string stderr_tail_;
  std::optional<ExitMessage> exit_;
  AgentStatus status_;  // but for what the machine knows
};

}  // namespace paddock::supervisor
