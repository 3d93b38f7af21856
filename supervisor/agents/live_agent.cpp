#include "supervisor/agents/live_agent.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "supervisor/agents/agent_admission.hpp"
#include "supervisor/agents/agent_events.hpp"

namespace paddock::supervisor {

using kernel::Cause;
using kernel::Error;
using kernel::ErrorCode;
using kernel::Result;
using std::chrono::milliseconds;
using std::chrono::system_clock;

namespace {

constexpr milliseconds unfinished_line_time_max{1'000};  // of silence

// Whether somebody has to change something before it can be started.
bool is_for_good(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_request:
    case ErrorCode::sandbox_policy_error:
    case ErrorCode::sandbox_not_available:
    case ErrorCode::unknown_profile:
    case ErrorCode::unknown_agent:
    case ErrorCode::forbidden:
      return true;
    case ErrorCode::not_found:
    case ErrorCode::too_busy:
    case ErrorCode::draining:
    case ErrorCode::not_recorded:
    case ErrorCode::io:
    case ErrorCode::internal:
      return false;
  }
  return false;
}

}  // namespace

LiveAgent::LiveAgent(const AgentContext& context, const kernel::AgentTemplate& agent,
                     std::function<void()> on_change)
    : context_(context),
      on_change_(std::move(on_change)),
      template_(agent),
      next_template_(agent),
      machine_(agent.protocol, agent.restart),
      log_(context.disk_worker,
           agents_directory(context.state_directory) + "/" + agent.name + "/log", agent.log),
      timer_(context.loop),
      soon_(context.loop),
      pace_timer_(context.loop) {
  log_.on_room([this] { go_on_reading(); });
}

LiveAgent::~LiveAgent() = default;

AgentStatus LiveAgent::status() const {
  AgentStatus status = status_;
  status.state = machine_.state();
  status.wanted = wanted_;
  status.run = run_;
  status.restarts = machine_.restarts();
  status.reason = machine_.reason();
  if (status.state == AgentState::backing_off)
    status.next_start = status.since + machine_.backoff();
  return status;
}

// ---- Events ------------------------------------------------------------------------------------

void LiveAgent::tell(Event event) {
  events_.push_back(std::move(event));
  process();
}

// Within an event of its run nothing may be done to the run.
void LiveAgent::tell_later(Event event) {
  events_.push_back(std::move(event));
  if (!soon_.is_running()) soon_.start(milliseconds(0), [this] { process(); });
}

void LiveAgent::process() {
  if (std::exchange(processing_, true)) return;
  const bool has_events = !events_.empty();
  while (!events_.empty()) {
    const Event event = std::move(events_.front());
    events_.pop_front();
    const AgentState before = machine_.state();
    const Actions actions =
        std::visit([this](const auto& concrete) { return machine_.on(concrete); }, event);
    if (machine_.state() != before) status_.since = system_clock::now();
    for (const Action action : actions) perform(action);
  }
  processing_ = false;
  if (has_events) on_change_();
}

void LiveAgent::perform(Action action) {
  const auto arm = [this](milliseconds after) {
    timer_.start(after, [this] { tell(TimePassed{}); });
  };
  switch (action) {
    case Action::start_run:
      return start_run();
    case Action::send_init:
      return send(init_message(template_.name, run_,
                               context_.accountant != nullptr
                                   ? context_.accountant->lines(template_.name)
                                   : std::map<std::string, BudgetLine>{}));
    case Action::send_stop:
      return send(stop_message(stop_message_time_max));
    case Action::stop_run: {
      [[maybe_unused]] const auto stopped = context_.runs.stop(
          run_, machine_.draining() ? Cause::shutdown : Cause::killed_by_request, stop_reason());
      return;
    }
    case Action::freeze_run:
      if (const auto frozen = context_.runs.freeze(run_); !frozen)
        events_.push_back(FreezeFailed{frozen.error().message});
      return;
    case Action::thaw_run:
      return context_.runs.thaw(run_);
    case Action::arm_handshake_timer:
      return arm(handshake_time_max);
    case Action::arm_exit_timer:
      return arm(template_.restart.stop);
    case Action::arm_stop_timer:
      return arm(stop_message_time_max);
    case Action::arm_backoff_timer:
      return arm(machine_.backoff());
    case Action::disarm_timer:
      return timer_.stop();
    case Action::tell_ready:
      return record("agent.ready");
    case Action::tell_exited:
      return record("agent.exited");
    case Action::tell_restarting:
      return record(agent_restarting_event);
    case Action::tell_failed:
      spdlog::warn("agent {} has failed: {}", template_.name, machine_.reason());
      return record("agent.failed");
    case Action::tell_stopped:
      return record_stopped();
    case Action::tell_frozen:
      return record("agent.frozen");
    case Action::tell_thawed:
      return record("agent.thawed");
  }
}

// What the record of its run says of it.
std::string LiveAgent::stop_reason() const {
  if (machine_.draining()) return {};
  if (!machine_.stopped_frozen() || context_.accountant == nullptr) return machine_.stop_reason();
  std::vector<std::string> spent;
  for (const auto& [dimension, line] : context_.accountant->lines(template_.name))
    if (line.limit && line.used >= *line.limit) spent.push_back(dimension);
  return fmt::format("{}; its budget of {} was spent and it was stopped while frozen",
                     machine_.stop_reason(), fmt::join(spent, ", "));
}

void LiveAgent::record(const std::string& kind) {
  context_.recorder.commit(agent_transition(kind, template_.name, template_.tenant, status()),
                           IfUnwritten::keep, {});
}

// What succeeded is done: the next daemon starts it only if it starts with every daemon.
void LiveAgent::record_stopped() {
  if (!wanted_ || !machine_.succeeded() || template_.autostart || machine_.draining())
    return record("agent.stopped");
  wanted_ = false;
  context_.recorder.commit(wanted_transition("agent.stopped", template_.name, template_.tenant,
                                             Wanted::stopped, "success"),
                           IfUnwritten::keep, {});
}

// ---- Its run -----------------------------------------------------------------------------------

void LiveAgent::start_run() {
  template_ = next_template_;
  machine_.use(template_.protocol, template_.restart);
  log_.set_limits(template_.log);
  run_.clear();
  program_began_.reset();
  output_paused_ = false;
  pace_ = {};
  pace_timer_.stop();
  stdout_lines_ = {};
  stderr_lines_ = {};
  stderr_tail_.clear();
  exit_.reset();
  status_.iteration.reset();
  auto run = submit_run();
  if (!run)
    return events_.push_back(RunRefused{.reason = run.error().message,
                                        .for_good = is_for_good(run.error()),
                                        .random = context_.random()});
  run_ = std::move(*run);
}

Result<RunId> LiveAgent::submit_run() {
  place_ = TRY(make_agent_place(context_.state_directory, template_, context_.sandbox.host_uids()));
  ResolvedRun run = TRY(admit_agent(template_, context_.catalog.catalog(), context_.sandbox,
                                    context_.health.refusals(), place_->workspace));
  status_.policy_hash = kernel::policy_hash(run.policy);
  RunObserver observer;
  observer.on_started = [this](const RunRecord& started) { run_started(started); };
  observer.on_output = [this](kernel::Stream stream, std::string_view bytes) {
    take_output(stream, bytes);
  };
  observer.on_finished = [this](const RunRecord& finished) { run_finished(finished); };
  observer.on_refused = [this](const Error& error) {
    run_.clear();
    tell(RunRefused{
        .reason = error.message, .for_good = is_for_good(error), .random = context_.random()});
  };
  RunId id = TRY(context_.runs.submit(std::move(run), std::move(observer)));
  if (context_.accountant != nullptr) context_.accountant->run_begins(template_, id);
  return id;
}

void LiveAgent::run_started(const RunRecord&) {
  program_began_ = kernel::Clock::now();
  tell_later(RunStarted{});
}

void LiveAgent::send(const std::string& message) {
  const auto written = context_.runs.write_stdin(run_, message, /*close=*/false);
  if (!written) spdlog::warn("agent {}: {}", template_.name, written.error().message);
}

void LiveAgent::run_finished(const RunRecord& run) {
  std::vector<LogLine> lines;
  stdout_lines_.finish(
      [&](const auto& line) { take_line(kernel::Stream::stdout_stream, line, lines); });
  stderr_lines_.finish(
      [&](const auto& line) { take_line(kernel::Stream::stderr_stream, line, lines); });
  write(std::move(lines));

  const kernel::SandboxResult& result = *run.result;
  AgentEnd end{.run = run.id,
               .at = system_clock::now(),
               .cause = std::string(kernel::name_of(result.cause)),
               .exit_code = result.exit_code,
               .detail = result.detail,
               .exit_kind = "",
               .summary = exit_ ? exit_->summary : "",
               .stderr_tail = std::exchange(stderr_tail_, {})};
  if (template_.protocol == kernel::AgentProtocol::jsonl)
    end.exit_kind = name_of(exit_ ? exit_->kind : ExitKind::crashed);
  status_.last_end = std::move(end);
  if (context_.accountant != nullptr) context_.accountant->run_ended(template_.name, run);

  const auto lived =
      program_began_ ? kernel::Clock::now() - *program_began_ : kernel::Clock::duration::zero();
  program_began_.reset();
  process();  // what it said before its end
  run_.clear();
  tell(RunEnded{.cause = result.cause,
                .exit_code = result.exit_code,
                .detail = result.detail,
                .lived = std::chrono::duration_cast<milliseconds>(lived),
                .random = context_.random()});
  // A drain stopped it, and was cancelled before it had ended.
  if (result.cause == Cause::shutdown && wanted_ && !context_.runs.draining()) tell(StartAsked{});
}

void LiveAgent::look() {
  write_unfinished_lines();
  if (program_began_ && context_.accountant != nullptr)
    context_.accountant->look(template_.name, run_);
}

// ---- Its output --------------------------------------------------------------------------------

LogLine LiveAgent::log_line(std::string stream, std::string_view text) const {
  return {.at = system_clock::now(),
          .run = run_,
          .stream = std::move(stream),
          .level = "",
          .text = std::string(text)};
}

void LiveAgent::take_output(kernel::Stream stream, std::string_view bytes) {
  std::vector<LogLine> lines;
  const bool is_stdout = stream == kernel::Stream::stdout_stream;
  (is_stdout ? stdout_at_ : stderr_at_) = kernel::Clock::now();
  if (!is_stdout) keep_tail(bytes);
  (is_stdout ? stdout_lines_ : stderr_lines_).push(bytes, [&](const LineSplitter::Line& line) {
    take_line(stream, line, lines);
  });
  write(std::move(lines));
  pause_if_too_fast();
}

void LiveAgent::write(std::vector<LogLine> lines) {
  log_.append(std::move(lines));
}

// What it writes meanwhile waits in its pipe, and none of it is lost.
void LiveAgent::pause_if_too_fast() {
  const milliseconds wait = pace_.wait(kernel::Clock::now());
  if (wait.count() > 0) pace_timer_.start(wait, [this] { go_on_reading(); });
  if (output_paused_ || (wait.count() == 0 && !log_.is_full())) return;
  output_paused_ = true;
  context_.runs.pause_output(run_, true);
}

void LiveAgent::go_on_reading() {
  if (pace_timer_.is_running() || log_.is_full()) return;
  if (!std::exchange(output_paused_, false)) return;
  stdout_at_ = stderr_at_ = kernel::Clock::now();  // until now it was not listened to
  context_.runs.pause_output(run_, false);
}

// Somebody may wait to read it: a prompt, or how far something has got. What may become a message
// stays whole.
void LiveAgent::write_unfinished_lines() {
  if (!program_began_ || output_paused_) return;
  const auto silent_since = kernel::Clock::now() - unfinished_line_time_max;
  std::vector<LogLine> lines;
  const bool may_be_message =
      template_.protocol == kernel::AgentProtocol::jsonl && stdout_lines_.held().starts_with('{');
  if (stdout_at_ <= silent_since && !may_be_message)
    stdout_lines_.cut(
        [&](const auto& line) { take_line(kernel::Stream::stdout_stream, line, lines); });
  if (stderr_at_ <= silent_since)
    stderr_lines_.cut(
        [&](const auto& line) { take_line(kernel::Stream::stderr_stream, line, lines); });
  write(std::move(lines));
}

void LiveAgent::take_line(kernel::Stream stream, const LineSplitter::Line& line,
                          std::vector<LogLine>& out) {
  const bool is_stdout = stream == kernel::Stream::stdout_stream;
  if (is_stdout && line.whole && template_.protocol == kernel::AgentProtocol::jsonl &&
      take_message(line.text, out))
    return;
  std::string_view text = line.text;
  do {
    out.push_back(
        log_line(is_stdout ? "stdout" : "stderr", text.substr(0, output_piece_bytes_max)));
    text.remove_prefix(std::min(text.size(), output_piece_bytes_max));
  } while (!text.empty());
}

bool LiveAgent::take_message(std::string_view text, std::vector<LogLine>& out) {
  if (!may_be_message(text)) return false;
  pace_.take(text.size());
  const auto message = parse_message(text);
  if (!message) return false;
  const auto refuse_charge = [&](const std::string& why) {
    out.push_back(log_line("paddock", "a charge is refused: " + why));
  };
  if (const auto* log = std::get_if<LogMessage>(&*message)) {
    out.push_back(log_line("log", log->text));
    out.back().level = log->level;
    return true;
  }
  if (const auto* refused = std::get_if<RefusedCharge>(&*message)) {
    refuse_charge(refused->why);
    return true;
  }
  if (const auto* charge = std::get_if<ChargeMessage>(&*message)) {
    if (context_.accountant == nullptr) return true;
    if (const auto charged = context_.accountant->charge(template_.name, charge->charges); !charged)
      refuse_charge(charged.error().message);
    return true;
  }
  out.push_back(log_line("message", text.substr(0, output_piece_bytes_max)));
  if (std::holds_alternative<ReadyMessage>(*message)) tell_later(ReadyReceived{});
  if (const auto* iteration = std::get_if<IterationMessage>(&*message))
    status_.iteration = iteration->n;
  if (const auto* said = std::get_if<ExitMessage>(&*message); said != nullptr && !exit_) {
    exit_ = *said;
    tell_later(ExitReceived{said->kind});
  }
  return true;
}

void LiveAgent::keep_tail(std::string_view bytes) {
  stderr_tail_ += bytes.substr(bytes.size() - std::min(bytes.size(), stderr_tail_bytes_max));
  if (stderr_tail_.size() > stderr_tail_bytes_max)
    stderr_tail_.erase(0, stderr_tail_.size() - stderr_tail_bytes_max);
}

}  // namespace paddock::supervisor
