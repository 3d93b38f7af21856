#include "supervisor/runtimes/code_run.hpp"

#include <algorithm>
#include <utility>

namespace paddock::supervisor {

using kernel::Result;

Result<std::shared_ptr<CodeRun>> CodeRun::start(RunTable& runs, CodeJob job, OnDone on_done) {
  const std::shared_ptr<CodeRun> run(new CodeRun(runs, std::move(job), std::move(on_done)));
  TRY_VOID(run->begin());
  return run;
}

void CodeRun::stop() {
  on_done_ = nullptr;
  [[maybe_unused]] const auto stopped = runs_.stop(id_);
}

Result<void> CodeRun::begin() {
  return job_.runtime.compile ? begin_compile() : begin_run();
}

Result<void> CodeRun::begin_compile() {
  const CompileStep& compile = *job_.runtime.compile;
  ResolvedRun run = std::move(job_.compile);
  TRY_VOID(prepare_step(compile.command, job_.files, {compile.artifact}, run));
  return submit(std::move(run), &CodeRun::compiled);
}

Result<void> CodeRun::begin_run() {
  std::vector<std::string> command = job_.runtime.run;
  command.insert(command.end(), job_.arguments.begin(), job_.arguments.end());
  ResolvedRun run = std::move(job_.run);
  TRY_VOID(prepare_step(command, job_.files, job_.wanted, run));
  if (result_.compile) run.parent = result_.compile->id;
  return submit(std::move(run), &CodeRun::ran);
}

// The observer keeps this object until the run is over, or refused.
Result<void> CodeRun::submit(ResolvedRun run, Then then) {
  channel_ = run.channel;
  output_.clear();
  const std::uint64_t output_bytes = run.policy.output_bytes;
  const auto self = shared_from_this();
  RunObserver observer{
      .on_started = {},
      .on_output =
          [self, output_bytes](kernel::Stream, std::string_view bytes) {
            self->output_ += bytes.substr(0, output_bytes - self->output_.size());
          },
      .on_finished = [self, then](const RunRecord& record) { (*self.*then)(record); },
      .on_accepted = {},
      .on_refused =
          [self](const kernel::Error& error) { self->done(tl::unexpected<kernel::Error>(error)); }};
  id_ = TRY(runs_.submit(std::move(run), std::move(observer)));
  return {};
}

void CodeRun::compiled(const RunRecord& record) {
  const CompileStep& compile = *job_.runtime.compile;
  Files made = collect_files(*channel_, {compile.artifact});
  result_.compile = take_step(record);
  if (!on_done_) return;
  StepResult& step = *result_.compile;
  if (!step.ok()) return done(std::move(result_));
  if (made.empty()) {
    // Not a success, whatever the compiler thinks of it: there is nothing to run.
    const std::string text = "paddock: the compiler left no '" + compile.artifact + "' of up to " +
                             std::to_string(artifact_bytes_max) + " bytes\n";
    step.result.exit_code = 1;
    step.result.stderr += text;
    step.output += text;
    return done(std::move(result_));
  }
  for (auto& [name, contents] : made) job_.files.insert_or_assign(name, std::move(contents));
  if (const auto begun = begin_run(); !begun) done(tl::unexpected<kernel::Error>(begun.error()));
}

void CodeRun::ran(const RunRecord& record) {
  result_.files = collect_files(*channel_, job_.wanted);
  result_.run = take_step(record);
  done(std::move(result_));
}

StepResult CodeRun::take_step(const RunRecord& record) {
  channel_.reset();
  return {.id = record.id, .result = *record.result, .output = std::exchange(output_, {})};
}

void CodeRun::done(Result<CodeResult> result) {
  if (const auto on_done = std::exchange(on_done_, nullptr)) on_done(std::move(result));
}

}  // namespace paddock::supervisor
