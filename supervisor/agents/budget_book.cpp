#include "supervisor/agents/budget_book.hpp"

#include <algorithm>
#include <utility>

#include "supervisor/agents/budget_events.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint64_t second_us = 1'000'000;
constexpr milliseconds at_once{0};  // on the next turn: not within an event of a run
constexpr milliseconds charged_within{1'000};
constexpr milliseconds measured_within{10'000};
// What a run may have lasted before it was first looked at; a clock that was set is no use of time.
constexpr microseconds unseen_max{10'000'000};

std::uint64_t more_than(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

// The whole seconds of `us` and what `rest` has; the rest stays there.
std::uint64_t whole_seconds(std::uint64_t us, std::uint64_t& rest) {
  rest += us;
  const std::uint64_t seconds = rest / second_us;
  rest %= second_us;
  return seconds;
}

void append(BudgetNews& news, const BudgetNews& more) {
  news.warned.insert(news.warned.end(), more.warned.begin(), more.warned.end());
  news.breached.insert(news.breached.end(), more.breached.begin(), more.breached.end());
}

}  // namespace

BudgetBook::~BudgetBook() {
  for (const std::string& agent : changed_) record(agent, accounts_.at(agent));
}

void BudgetBook::restore(const std::vector<BudgetRow>& rows) {
  std::map<std::string, std::vector<BudgetRow>> by_agent;
  for (const BudgetRow& row : rows) by_agent[row.agent].push_back(row);
  for (const auto& [agent, own] : by_agent) accounts_[agent].budget = Budget(own);
}

void BudgetBook::set_limits(const std::map<std::string, kernel::AgentTemplate>& agents) {
  for (const auto& [name, agent] : agents) {
    Account& known = account(agent);
    const Budget before = known.budget;
    const BudgetNews news = known.budget.set_limits(agent.budget);
    if (known.budget == before) continue;
    known.has_new_limits = true;
    known.may_go_on = before.is_spent() && !known.budget.is_spent();
    note(name, known, news, at_once);
  }
}

void BudgetBook::grant(const kernel::AgentTemplate& agent, const std::string& dimension,
                       std::uint64_t amount, std::function<void(Result<void>)> on_answer) {
  if (!context_.recorder.is_writing())
    return on_answer(fail(ErrorCode::not_recorded, "the ledger cannot be written at the moment"));
  Account& known = account(agent);
  const bool was_spent = known.budget.is_spent();
  const auto news = known.budget.grant(dimension, amount);
  if (!news) return on_answer(tl::unexpected<kernel::Error>(news.error()));
  // From here on it is so: what is charged next counts with it.
  context_.recorder.commit(
      granted_transition(agent.name, known.tenant, known.budget, dimension, amount),
      IfUnwritten::keep, [on_answer = std::move(on_answer)](const Result<std::uint64_t>& seq) {
        on_answer(seq.map([](std::uint64_t) {}));
      });
  if (!was_spent || known.budget.is_spent()) return;
  known.may_go_on = true;
  note(agent.name, known, *news, at_once);
}

const Budget* BudgetBook::find(const std::string& agent) const {
  const auto at = accounts_.find(agent);
  return at == accounts_.end() ? nullptr : &at->second.budget;
}

// ---- What agents use ---------------------------------------------------------------------------

void BudgetBook::run_begins(const kernel::AgentTemplate& agent, const RunId& run) {
  Account& known = account(agent);
  known.meter = {.run = run, .cpu_us = 0, .written_bytes = 0, .looked_at = std::nullopt};
  const Budget before = known.budget;
  const BudgetNews news = known.budget.set_limits(agent.budget);
  known.is_spent_anew = known.budget.is_spent();
  if (known.budget != before || known.is_spent_anew) note(agent.name, known, news, at_once);
}

Result<void> BudgetBook::charge(const std::string& agent, const Charges& charges) {
  Account& known = accounts_[agent];
  const BudgetNews news = TRY(known.budget.charge(charges));
  note(agent, known, news, charged_within);
  return {};
}

void BudgetBook::look(const std::string& agent, const RunId& run) {
  const auto at = accounts_.find(agent);
  if (at == accounts_.end() || at->second.meter.run != run) return;
  Account& known = at->second;
  const auto usage = context_.runs.usage(run);
  const RunRecord* record = context_.runs.find(run);
  if (!usage || record == nullptr) return;
  const auto now = kernel::Clock::now();
  microseconds wall{};
  if (known.meter.looked_at) {
    wall = std::chrono::duration_cast<microseconds>(now - *known.meter.looked_at);
  } else if (record->started_at) {
    const auto lasted = std::chrono::system_clock::now() - *record->started_at;
    wall = std::clamp(std::chrono::duration_cast<microseconds>(lasted), {}, unseen_max);
  }
  known.meter.looked_at = now;
  measure(agent, known, usage->cpu_us, usage->written_bytes.value_or(0), wall);
}

void BudgetBook::run_ended(const std::string& agent, const RunRecord& run) {
  const auto at = accounts_.find(agent);
  if (at == accounts_.end() || at->second.meter.run != run.id || !run.result) return;
  Account& known = at->second;
  microseconds wall(static_cast<std::int64_t>(run.result->duration_s * 1e6));
  if (known.meter.looked_at)
    wall = std::chrono::duration_cast<microseconds>(kernel::Clock::now() - *known.meter.looked_at);
  measure(agent, known, run.result->cpu_user_us + run.result->cpu_system_us,
          run.result->written_bytes, wall);
  known.meter = {};
}

// An agent that stands still for its budget spends no time, however long that lasts.
void BudgetBook::measure(const std::string& agent, Account& known, std::uint64_t cpu_us,
                         std::uint64_t written_bytes, microseconds wall) {
  Meter& meter = known.meter;
  const std::uint64_t wall_us =
      known.budget.is_spent() || wall.count() < 0 ? 0 : static_cast<std::uint64_t>(wall.count());
  Charges charges;
  const auto add = [&](const char* dimension, std::uint64_t amount) {
    if (amount > 0) charges[dimension] = amount;
  };
  add("cpu_s", whole_seconds(more_than(cpu_us, meter.cpu_us), known.cpu_rest_us));
  add("wall_s", whole_seconds(wall_us, known.wall_rest_us));
  add("fs_w_bytes", more_than(written_bytes, meter.written_bytes));
  meter.cpu_us = std::max(meter.cpu_us, cpu_us);
  meter.written_bytes = std::max(meter.written_bytes, written_bytes);
  if (charges.empty()) return;
  // What is measured has always room.
  if (const auto news = known.budget.charge(charges)) note(agent, known, *news, measured_within);
}

std::map<std::string, BudgetLine> BudgetBook::lines(const std::string& agent) const {
  std::map<std::string, BudgetLine> lines;
  const Budget* budget = find(agent);
  if (budget == nullptr) return lines;
  for (const auto& [dimension, state] : budget->dimensions()) {
    BudgetLine& line = lines[dimension];
    line.used = static_cast<std::uint64_t>(state.used);
    if (state.limit > 0) line.limit = static_cast<std::uint64_t>(state.may_use());
  }
  return lines;
}

// ---- Telling it --------------------------------------------------------------------------------

BudgetBook::Account& BudgetBook::account(const kernel::AgentTemplate& agent) {
  Account& known = accounts_[agent.name];
  known.tenant = agent.tenant;
  return known;
}

void BudgetBook::note(const std::string& agent, Account& known, const BudgetNews& news,
                      milliseconds tell_within) {
  append(known.news, news);
  known.is_spent_anew = known.is_spent_anew || !news.breached.empty();
  changed_.insert(agent);
  flush_within(news.empty() ? tell_within : at_once);
}

void BudgetBook::flush_within(milliseconds time) {
  const auto at = kernel::Clock::now() + time;
  if (flush_timer_.is_running() && flush_at_ <= at) return;
  flush_at_ = at;
  flush_timer_.start(time, [this] { flush(); });
}

void BudgetBook::flush() {
  for (const std::string& agent : std::exchange(changed_, {})) {
    Account& known = accounts_.at(agent);
    record(agent, known);
    const bool is_spent = known.budget.is_spent();
    if (std::exchange(known.is_spent_anew, false) && is_spent) context_.on_spent(agent);
    if (std::exchange(known.may_go_on, false) && !is_spent) context_.on_granted(agent);
  }
}

void BudgetBook::record(const std::string& agent, Account& known) {
  const BudgetNews news = std::exchange(known.news, {});
  const auto commit = [this](Transition transition) {
    context_.recorder.commit(std::move(transition), IfUnwritten::keep, {});
  };
  for (const std::string& dimension : news.warned)
    commit(threshold_transition("budget.warned", agent, known.tenant, known.budget, dimension));
  for (const std::string& dimension : news.breached)
    commit(
        threshold_transition(budget_breached_event, agent, known.tenant, known.budget, dimension));
  const bool has_new_limits = std::exchange(known.has_new_limits, false);
  if (news.empty())
    commit(usage_transition(has_new_limits ? "budget.limited" : "budget.charged", agent,
                            known.tenant, known.budget));
}

}  // namespace paddock::supervisor
