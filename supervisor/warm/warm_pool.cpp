#include "supervisor/warm/warm_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "supervisor/warm/zygote_name.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Clock;
using std::chrono::milliseconds;

// To weigh one takes a walk through its processes.
constexpr milliseconds weigh_interval{1'000};
constexpr std::size_t known_kinds_max = 256;
constexpr std::size_t stderr_shown_bytes_max = 300;

// Why a zygote is gone that nobody has ended.
std::string text_of(const kernel::SandboxResult& result) {
  std::string text =
      result.detail.empty()
          ? fmt::format("{}, exit code {}", kernel::name_of(result.cause), result.exit_code)
          : result.detail;
  std::string_view said = result.stderr;  // of a traceback the last line says it
  while (said.ends_with('\n')) said.remove_suffix(1);
  said = said.substr(said.rfind('\n') + 1);
  said = said.substr(0, stderr_shown_bytes_max);
  if (!said.empty()) text += fmt::format(": {}", said);
  return text;
}

}  // namespace

WarmPool::WarmPool(Parts parts, PoolLimits limits)
    : parts_(std::move(parts)), machine_(limits), timer_(parts_.loop), weigh_timer_(parts_.loop) {}

WarmPool::~WarmPool() {
  abandon();
}

// ---- Runs --------------------------------------------------------------------------------------

WarmPool::Fork WarmPool::cold(const std::string& runtime, std::string why) const {
  if (parts_.on_start) parts_.on_start(runtime, false);
  return {.run = nullptr, .cold_because = std::move(why)};
}

ZygoteKind WarmPool::kind_of(const std::shared_ptr<const WarmWish>& wish,
                             const kernel::SandboxPolicy& policy, const std::string& policy_hash,
                             const std::string& tenant) {
  const KindKey key{wish, policy_hash, tenant};
  if (const auto known = kinds_.find(key); known != kinds_.end()) return known->second;
  if (kinds_.size() >= known_kinds_max) kinds_.clear();
  return kinds_[key] = kernel::zygote_key(policy, wish->program) + ' ' + tenant;
}

WarmPool::Fork WarmPool::start(const std::shared_ptr<const WarmWish>& wish,
                               const kernel::SandboxPolicy& policy, const std::string& policy_hash,
                               const std::string& tenant, const std::vector<std::string>& argv,
                               const RunId& id, kernel::RunOptions options) {
  if (!wish->cold_because.empty()) return cold(wish->runtime, wish->cold_because);
  if (is_closed_) return cold(wish->runtime, "the daemon is about to end");
  if (auto why = kernel::why_cold(policy, argv, wish->program); !why.empty())
    return cold(wish->runtime, std::move(why));
  const ZygoteKind kind = kind_of(wish, policy, policy_hash, tenant);
  auto choice = machine_.run_wants(id, kind, wish->limits, Clock::now());
  if (machine_.knows(kind) && !specs_.contains(kind))
    specs_[kind] = {.policy = policy, .wish = wish};
  schedule();
  if (!choice.zygote) {
    const auto spec = specs_.find(kind);
    if (spec != specs_.end() && !spec->second.last_failure.empty())
      choice.cold_because += ": the last one " + spec->second.last_failure;
    return cold(wish->runtime, std::move(choice.cold_because));
  }
  Zygote& zygote = zygotes_.at(*choice.zygote);
  auto run = parts_.sandbox.start_warm(zygote.line, policy, argv, id, std::move(options));
  if (!run) {
    const bool is_gone = !kernel::zygote_says_ready(zygote.line);  // or the host lacks something
    if (is_gone) fault(wish->runtime, "a zygote could not fork: " + run.error().message);
    machine_.run_is_cold(id, is_gone ? std::optional(ZygoteEnd::lost_run) : std::nullopt);
    return cold(wish->runtime, "it could not be forked: " + run.error().message);
  }
  runtimes_[id] = wish->runtime;
  return {.run = std::move(*run)};
}

void WarmPool::gate_opened(const RunId& id) {
  machine_.gate_opened(id);
  const auto at = runtimes_.find(id);
  if (at == runtimes_.end()) return;
  if (parts_.on_start) parts_.on_start(at->second, true);
  runtimes_.erase(at);
}

void WarmPool::lost(const RunId& id, Lost how, Suspect suspect, const std::string& why) {
  if (suspect == Suspect::zygote) {
    machine_.run_is_cold(id, ZygoteEnd::lost_run);
  } else {
    machine_.run_is_lost(id, how == Lost::by_itself);
  }
  const auto at = runtimes_.find(id);
  if (at != runtimes_.end() && how == Lost::by_itself) {
    if (parts_.on_start) parts_.on_start(at->second, false);
    fault(at->second, why);
  }
  if (at != runtimes_.end()) runtimes_.erase(at);
  schedule();
}

// Asks the zygote's socket, which says it before its launchers do.
bool WarmPool::has_lost_zygote(const RunId& id) {
  const auto name = machine_.zygote_of(id);
  if (!name) return true;
  const auto zygote = zygotes_.find(*name);
  return zygote == zygotes_.end() || !kernel::zygote_says_ready(zygote->second.line);
}

void WarmPool::ended(const RunId& id, bool used_network) {
  const auto name = machine_.zygote_of(id);
  const auto zygote = name ? zygotes_.find(*name) : zygotes_.end();
  if (zygote != zygotes_.end() && used_network) zygote->second.line.network_is_used = true;
  machine_.run_over(id, Clock::now());
  if (!weigh_timer_.is_running() && !machine_.to_be_weighed().empty())
    weigh_timer_.start(weigh_interval, [this] { weigh(); });
  schedule();
}

bool WarmPool::is_launcher(pid_t pid) const {
  return std::any_of(zygotes_.begin(), zygotes_.end(), [pid](const auto& zygote) {
    return zygote.second.live->run().launcher() == pid;
  });
}

// ---- Zygotes -----------------------------------------------------------------------------------

// On a turn of its own: whoever tells of a run is in the middle of it.
void WarmPool::schedule() {
  timer_.start(milliseconds(0), [this] { act(); });
}

void WarmPool::act() {
  for (const PoolMachine::Order& order : machine_.decide(Clock::now())) {
    if (order.what == PoolMachine::Order::What::start) {
      start_zygote(order.kind);
    } else {
      end_zygote(order.zygote, order.why);
    }
  }
  std::erase_if(specs_, [&](const auto& spec) { return !machine_.knows(spec.first); });
  const auto now = Clock::now();
  const auto next = machine_.next_time(now);
  if (!next || timer_.is_running()) return;
  const auto left = std::chrono::ceil<milliseconds>(*next - now);
  timer_.start(std::max(left, milliseconds(1)), [this] { act(); });
}

void WarmPool::start_zygote(const ZygoteKind& kind) {
  const Spec& spec = specs_.at(kind);
  const std::string& runtime = spec.wish->runtime;
  if (is_closed_) return machine_.zygote_not_started(kind, Clock::now());
  const ZygoteName name = make_zygote_name(parts_.tag);
  auto started = parts_.sandbox.start_zygote(spec.policy, spec.wish->program, name);
  if (!started) {
    fault(runtime, "a zygote could not be started: " + started.error().message);
    never_ready(kind, "could not be started: " + started.error().message);
    return machine_.zygote_not_started(kind, Clock::now());
  }
  machine_.zygote_started(kind, name, Clock::now());
  seen_.insert(runtime);
  Zygote& zygote = zygotes_[name];
  zygote.runtime = runtime;
  zygote.kind = kind;
  zygote.line = std::move(started->line);
  zygote.live = std::make_unique<LiveRun>(parts_.loop, std::move(started->run),
                                          [this, name] { changed(name); });
  auto poll = Poll::create(parts_.loop, zygote.line.socket.get());
  if (!poll) {  // never ready, and ended for that
    fault(runtime, "a zygote's socket cannot be watched: " + poll.error().message);
    return;
  }
  zygote.poll = std::move(*poll);
  zygote.poll->start({.readable = true}, [this, name](Poll::Events) { line_ready(name); });
}

void WarmPool::line_ready(const ZygoteName& name) {
  Zygote& zygote = zygotes_.at(name);
  const auto is_ready = kernel::zygote_says_ready(zygote.line);
  if (is_ready && !*is_ready) return;
  zygote.poll->stop();
  if (!is_ready) return;  // its end follows, and says why
  machine_.zygote_ready(name, Clock::now());
  never_ready(zygote.kind, {});
  schedule();
}

void WarmPool::end_zygote(const ZygoteName& name, ZygoteEnd why) {
  Zygote& zygote = zygotes_.at(name);
  if (parts_.on_end) parts_.on_end(zygote.runtime, name_of(why));
  if (why == ZygoteEnd::not_ready) {
    const auto within = fmt::format("not ready within {} s", zygote_ready_time_max.count() / 1000);
    fault(zygote.runtime, "a zygote was " + within);
    never_ready(zygote.kind, "was " + within);
  }
  if (why == ZygoteEnd::no_answer)
    fault(zygote.runtime, fmt::format("a zygote did not fork a run within {} s",
                                      zygote_answer_time_max.count() / 1000));
  zygote.live->run().kill();
  zygote.live->refresh();
}

void WarmPool::changed(const ZygoteName& name) {
  Zygote& zygote = zygotes_.at(name);
  kernel::Run& run = zygote.live->run();
  if (!run.finished()) return;
  const kernel::SandboxResult result = run.take_result();
  const std::string runtime = zygote.runtime;
  if (machine_.state_of(name) == ZygoteState::starting)
    never_ready(zygote.kind, "died: " + text_of(result));
  zygotes_.erase(name);
  if (machine_.zygote_gone(name, Clock::now())) {
    if (parts_.on_end) parts_.on_end(runtime, name_of(ZygoteEnd::died));
    fault(runtime, "a zygote died: " + text_of(result));
  }
  schedule();
}

void WarmPool::weigh() {
  for (const ZygoteName& name : machine_.to_be_weighed())
    machine_.zygote_weighed(name, zygotes_.at(name).live->run().usage_now().memory_bytes);
  schedule();
}

// `why` is empty of one that is ready.
void WarmPool::never_ready(const ZygoteKind& kind, const std::string& why) {
  if (const auto spec = specs_.find(kind); spec != specs_.end()) spec->second.last_failure = why;
}

void WarmPool::fault(const std::string& runtime, const std::string& why) {
  last_failure_ = fmt::format("{}: {}", runtime, why);
  if (parts_.on_failure) parts_.on_failure(runtime, why);
}

// ---- The end -----------------------------------------------------------------------------------

void WarmPool::renew() {
  machine_.renew();
  kinds_.clear();
  schedule();
}

void WarmPool::close() {
  is_closed_ = true;
  renew();
}

void WarmPool::abandon() {
  is_closed_ = true;
  timer_.stop();
  weigh_timer_.stop();
  for (auto& [name, zygote] : zygotes_) {
    zygote.poll.reset();
    kernel::Run& run = zygote.live->run();
    run.stop(kernel::Cause::shutdown);
    run.abandon();
    zygote.live->refresh();
    [[maybe_unused]] const auto result = run.take_result();
  }
  zygotes_.clear();
}

WarmNow WarmPool::now() const {
  WarmNow now{.zygotes = {},
              .ready = machine_.count(ZygoteState::ready),
              .busy = machine_.count(ZygoteState::busy),
              .starting = machine_.count(ZygoteState::starting),
              .last_failure = last_failure_};
  for (const std::string& runtime : seen_)
    for (const ZygoteState state : {ZygoteState::starting, ZygoteState::ready, ZygoteState::busy})
      now.zygotes[runtime][std::string(name_of(state))] = 0;
  for (const auto& [name, zygote] : zygotes_) {
    const ZygoteState state = machine_.state_of(name);
    if (state != ZygoteState::ending) ++now.zygotes[zygote.runtime][std::string(name_of(state))];
  }
  return now;
}

}  // namespace paddock::supervisor
