#include "supervisor/agents/agent_table.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <random>

#include "supervisor/agents/agent_events.hpp"

namespace paddock::supervisor {

using kernel::Error;
using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds agent_look_interval{1'000};

std::function<double()> make_random() {
  const auto engine = std::make_shared<std::mt19937_64>(std::random_device{}());
  return [engine] { return std::uniform_real_distribution<double>(0, 1)(*engine); };
}

}  // namespace

Error no_agent(const std::string& name) {
  return {ErrorCode::unknown_agent, "no agent '" + name + "'"};
}

AgentTable::AgentTable(AgentContext context)
    : context_(std::move(context)),
      stop_records_(context_.loop, context_.recorder),
      look_timer_(context_.loop) {
  if (!context_.random) context_.random = make_random();
}

AgentTable::~AgentTable() = default;

void AgentTable::keep_uids() {
  std::error_code ignored;
  const std::string directory = agents_directory(context_.state_directory);
  for (std::filesystem::directory_iterator at(directory, ignored), end; at != end;
       at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    auto lease = keep_uid_of(context_.state_directory, name, context_.sandbox.host_uids());
    if (!lease) {
      spdlog::warn("agent {}: {}", name, lease.error().message);
    } else if (*lease) {
      uids_.insert_or_assign(name, std::move(**lease));
    }
  }
}

void AgentTable::start_wanted(const std::vector<AgentRow>& rows) {
  std::set<std::string> recorded;
  for (const AgentRow& row : rows) {
    recorded.insert(row.name);
    if (row.wanted == "running") {
      begin_by_itself(row.name, "daemon");
    } else {
      unwanted_.insert(row.name);
    }
  }
  for (const auto& [name, agent] : context_.catalog.catalog().agents) {
    templates_.insert(name);
    if (agent.autostart && !recorded.contains(name)) begin_by_itself(name, "autostart");
  }
}

void AgentTable::start_added() {
  std::set<std::string> templates;
  for (const auto& [name, agent] : context_.catalog.catalog().agents) {
    templates.insert(name);
    if (templates_.contains(name) || !agent.autostart || unwanted_.contains(name)) continue;
    const LiveAgent* known = find(name);
    // Its template was away for a while, and it has gone on or was done.
    if (known != nullptr && (known->state() != AgentState::stopped || known->is_done())) continue;
    if (!draining_) begin_by_itself(name, "autostart");
  }
  templates_ = std::move(templates);
}

void AgentTable::begin_by_itself(const std::string& name, const std::string& by) {
  begin(name, by, StartAsked{}, [name](const Result<AgentAnswer>& started) {
    if (!started) spdlog::error("agent {}: {}", name, started.error().message);
  });
}

// ---- What is asked -----------------------------------------------------------------------------

void AgentTable::start(const std::string& name, const OnAnswer& on_answer) {
  if (const LiveAgent* known = find(name); known != nullptr && known->is_wanted()) {
    const AgentState state = known->state();
    if (state == AgentState::starting || state == AgentState::running ||
        state == AgentState::frozen)
      return on_answer(AgentAnswer{});
  }
  begin(name, "request", StartAsked{}, on_answer);
}

void AgentTable::restart(const std::string& name, const OnAnswer& on_answer) {
  begin(name, "restart", RestartAsked{}, on_answer);
}

// Recorded first: an agent that runs is one that the next daemon starts again.
void AgentTable::begin(const std::string& name, const std::string& by, LiveAgent::Event event,
                       const OnAnswer& on_answer) {
  const kernel::AgentTemplate* agent = find_template(name);
  if (agent == nullptr) {
    const LiveAgent* known = find(name);
    if (known == nullptr || known->state() == AgentState::stopped)
      return on_answer(tl::unexpected(no_agent(name)));
    return on_answer(
        fail(ErrorCode::unknown_agent, "the template of agent '" + name +
                                           "' is gone: it goes on as it is until it is stopped, "
                                           "and cannot be started again"));
  }
  if (draining_) return on_answer(fail(ErrorCode::draining, "the daemon is shutting down"));
  const std::uint64_t ask = ++asks_[name];
  context_.recorder.commit(
      wanted_transition("agent.started", name, agent->tenant, Wanted::running, by),
      IfUnwritten::refuse,
      [this, name, ask, event = std::move(event), on_answer](const Result<std::uint64_t>& seq) {
        if (!seq) return on_answer(tl::unexpected<Error>(seq.error()));
        if (asks_[name] == ask) unwanted_.erase(name);
        // Something else was asked for meanwhile, or a reload has taken the template away.
        const kernel::AgentTemplate* still = find_template(name);
        if (still == nullptr) return on_answer(tl::unexpected(no_agent(name)));
        if (asks_[name] != ask) return on_answer(AgentAnswer{.changed = true});
        LiveAgent& live_agent = live(*still);
        live_agent.set_template(*still);
        live_agent.set_wanted(true);
        live_agent.tell(event);
        if (!look_timer_.is_running()) look_timer_.start(agent_look_interval, [this] { look(); });
        on_answer(AgentAnswer{.changed = true});
      });
}

void AgentTable::stop(const std::string& name, const OnAnswer& on_answer) {
  LiveAgent* known = find(name);
  if (known == nullptr && find_template(name) == nullptr)
    return on_answer(tl::unexpected(no_agent(name)));
  const bool runs = known != nullptr && known->state() != AgentState::stopped;
  const bool is_asked = asks_[name] != 0;  // a start may be on its way
  const auto answer = [on_answer](bool changed) {
    return [on_answer, changed](bool recorded) {
      on_answer(AgentAnswer{.changed = changed, .recorded = recorded});
    };
  };
  if (stop_records_.is_pending(name) && stops_[name] == asks_[name])
    return stop_records_.wait(name, answer(runs));
  if (!runs && !is_asked && known != nullptr && !known->is_wanted())
    return on_answer(AgentAnswer{});
  stops_[name] = ++asks_[name];
  unwanted_.insert(name);
  const std::string tenant = known != nullptr ? known->agent().tenant : find_template(name)->tenant;
  const bool was_wanted = known != nullptr && known->is_wanted();
  if (known != nullptr) known->set_wanted(false);
  // Also if it does not run: it may start with the next daemon otherwise.
  stop_records_.commit(
      name, wanted_transition("agent.stopping", name, tenant, Wanted::stopped, "request"),
      answer(runs || was_wanted));
  if (known != nullptr) known->tell(StopAsked{});
}

void AgentTable::budget_spent(const std::string& name) {
  if (LiveAgent* known = find(name)) known->tell(BudgetSpent{});
}

void AgentTable::budget_granted(const std::string& name) {
  if (LiveAgent* known = find(name)) known->tell(BudgetGranted{});
}

void AgentTable::start_again() {
  std::vector<std::string> names;
  for (const auto& [name, agent] : agents_)
    if (agent->is_wanted() && agent->state() == AgentState::stopped) names.push_back(name);
  for (const std::string& name : names) begin_by_itself(name, "undrain");
}

void AgentTable::drain() {
  draining_ = true;
  look_timer_.stop();
  for (const auto& [name, agent] : agents_) agent->tell(DrainBegun{});
}

// ---- What is seen ------------------------------------------------------------------------------

const kernel::AgentTemplate* AgentTable::find_template(const std::string& name) const {
  const auto& agents = context_.catalog.catalog().agents;
  const auto at = agents.find(name);
  return at == agents.end() ? nullptr : &at->second;
}

LiveAgent* AgentTable::find(const std::string& name) {
  const auto at = agents_.find(name);
  return at == agents_.end() ? nullptr : at->second.get();
}

const LiveAgent* AgentTable::find(const std::string& name) const {
  const auto at = agents_.find(name);
  return at == agents_.end() ? nullptr : at->second.get();
}

LiveAgent& AgentTable::live(const kernel::AgentTemplate& agent) {
  std::unique_ptr<LiveAgent>& known = agents_[agent.name];
  if (!known)
    known =
        std::make_unique<LiveAgent>(context_, agent, [this, name = agent.name] { changed(name); });
  return *known;
}

std::optional<AgentStatus> AgentTable::status(const std::string& name) const {
  if (const LiveAgent* known = find(name)) return known->status();
  if (find_template(name) == nullptr) return std::nullopt;
  return AgentStatus{};
}

std::map<std::string, std::size_t> AgentTable::count_by_state() const {
  std::map<std::string, std::size_t> counts;
  for (const auto& [name, agent] : agents_) ++counts[std::string(name_of(agent->state()))];
  for (const auto& [name, agent] : context_.catalog.catalog().agents)
    if (find(name) == nullptr) ++counts[std::string(name_of(AgentState::stopped))];
  return counts;
}

std::vector<kernel::AgentTemplate> AgentTable::removed() const {
  std::vector<kernel::AgentTemplate> templates;
  for (const auto& [name, agent] : agents_)
    if (find_template(name) == nullptr && agent->state() != AgentState::stopped)
      templates.push_back(agent->agent());
  return templates;
}

AgentLog* AgentTable::log(const std::string& name) {
  if (LiveAgent* known = find(name)) return &known->log();
  const kernel::AgentTemplate* agent = find_template(name);
  return agent == nullptr ? nullptr : &live(*agent).log();
}

AgentTable::ObserverId AgentTable::observe(const std::string& name,
                                           std::function<void(const AgentStatus&)> on_change) {
  observers_[++last_observer_] = {name, std::move(on_change)};
  return last_observer_;
}

void AgentTable::changed(const std::string& name) {
  const AgentStatus now = *status(name);
  std::vector<std::function<void(const AgentStatus&)>> interested;
  for (const auto& [id, observer] : observers_)
    if (observer.name == name) interested.push_back(observer.on_change);
  for (const auto& on_change : interested) on_change(now);
}

void AgentTable::look() {
  for (const auto& [name, agent] : agents_) agent->look();
  look_timer_.start(agent_look_interval, [this] { look(); });
}

}  // namespace paddock::supervisor
