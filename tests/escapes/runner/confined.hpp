#pragma once
// An attempt under a profile, through the kernel library as a supervisor uses it.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "escapes/runner/observation.hpp"
#include "escapes/runner/rows.hpp"
#include "escapes/runner/stage.hpp"
#include "escapes/runner/zygotes.hpp"
#include "kernel/policy/policy.hpp"
#include "kernel/run/sandbox.hpp"

namespace paddock::escapes {

// Runs are named as the daemon names them, "r-" and 16 hex digits, by which the next supervisor
// knows what a killed one has left. All names of this process and of those it forks begin with
// this.
std::string run_name_prefix();

class Confined {
 public:
  // `zygotes`: null, or what the runs are forked from.
  Confined(const kernel::Sandbox& sandbox, Stage& stage, kernel::SandboxPolicy policy,
           Zygotes* zygotes);

  // Runs the attempt, or both of a pair, until all of it is over.
  Observation run(const Row& row, const std::string& channel);

 private:
  struct Live {
    std::unique_ptr<kernel::Run> run;
    std::shared_ptr<std::string> output;
  };
  // The run that cannot be started is an observation already.
  // `number`: of two at the same time, which one.
  std::optional<Live> start(const std::string& attempt, Observation& failure, int number = 0);
  kernel::Result<std::unique_ptr<kernel::Run>> start_run(const std::vector<std::string>& argv,
                                                         kernel::RunOptions options, int number);

  kernel::SandboxResult result_of(kernel::Run& run, int number);

  Observation once(const std::string& attempt);
  Observation left_behind(const std::string& attempt);
  Observation supervisor_killed(const std::string& attempt);
  Observation supervisor_killed_early(const std::string& attempt);
  pid_t fork_supervisor(const std::string& attempt, kernel::Pipe& at_work);
  bool await_zygote(const kernel::Pipe& at_work) const;
  Observation look_for_orphans() const;
  Observation seen_by_second(const std::string& attempt);
  Observation seen_by_first(const std::string& attempt);
  bool anything_left() const;

  const kernel::Sandbox& sandbox_;
  Stage& stage_;
  Zygotes* zygotes_;
  kernel::SandboxPolicy policy_;   // the profile's
  kernel::SandboxPolicy current_;  // tightened for the row at hand
  std::string channel_;
  std::array<kernel::ZygoteLine*, 2> lines_{};  // of the runs that were started, by their numbers
};

}  // namespace paddock::escapes
