#pragma once
// CodeRun: code of one runtime, compiled if it is to be, and then run once.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/run/result.hpp"
#include "supervisor/runs/run_table.hpp"
#include "supervisor/runtimes/runtime.hpp"
#include "supervisor/runtimes/step.hpp"

namespace paddock::supervisor {

struct CodeJob {
  Runtime runtime;
  ResolvedRun compile;  // as admitted; used if the runtime compiles
  ResolvedRun run;
  Files files;                         // the code among them, under the runtime's name for it
  std::vector<std::string> arguments;  // after the runtime's command
  std::vector<std::string> wanted;     // files that come out of the run
};

// One of the two, when it is over.
struct StepResult {
  RunId id;
  kernel::SandboxResult result;
  std::string output;  // of both streams as they came, within output_bytes

  bool ok() const { return result.cause == kernel::Cause::exited && result.exit_code == 0; }
};

struct CodeResult {
  std::optional<StepResult> compile;  // absent: the runtime does not
  std::optional<StepResult> run;      // absent: it did not compile
  Files files;
};

class CodeRun : public std::enable_shared_from_this<CodeRun> {
 public:
  // With an error: a run was not accepted or not recorded. A run that ended badly is a result.
  using OnDone = std::function<void(kernel::Result<CodeResult>)>;

  // `on_done` is called once, from the loop and never from within this call, unless stop() is.
  // Fails like RunTable::submit and prepare_step. `runs` outlives the run.
  static kernel::Result<std::shared_ptr<CodeRun>> start(RunTable& runs, CodeJob job,
                                                        OnDone on_done);

  // For a client that is gone: ends what runs.
  void stop();

 private:
  using Then = void (CodeRun::*)(const RunRecord&);

  CodeRun(RunTable& runs, CodeJob job, OnDone on_done)
      : runs_(runs), job_(std::move(job)), on_done_(std::move(on_done)) {}

  kernel::Result<void> begin();
  kernel::Result<void> begin_compile();
  kernel::Result<void> begin_run();
  kernel::Result<void> submit(ResolvedRun run, Then then);
  void compiled(const RunRecord& record);
  void ran(const RunRecord& record);
  StepResult take_step(const RunRecord& record);
  void done(kernel::Result<CodeResult> result);

  RunTable& runs_;
  CodeJob job_;
  OnDone on_done_;
  CodeResult result_;
  RunId id_;  // of what runs now
  std::shared_ptr<kernel::Fd> channel_;
  std::string output_;
};

}  // namespace paddock::supervisor
