#pragma once
// EmbeddedBackend: this process answers by itself and is the supervisor of its runs. Whoever types
// the command is the operator then.

#include <string>
#include <vector>

#include "kernel/policy/load.hpp"
#include "kernel/policy/policy.hpp"
#include "kernel/run/sandbox.hpp"
#include "supervisor/cli/backend.hpp"
#include "supervisor/runs/run_record.hpp"
#include "supervisor/runtimes/versions.hpp"

namespace paddock::supervisor::cli {

// The directories that are read without a daemon: the default ones, then those of the options.
std::vector<std::string> profile_directories(const GlobalOptions& options);
std::vector<std::string> agent_directories(const GlobalOptions& options);

class EmbeddedBackend final : public Backend {
 public:
  // Fails with sandbox_policy_error, after a complaint about each, if the catalog has mistakes.
  static kernel::Result<EmbeddedBackend> open(const GlobalOptions& options);

  std::string name() const override { return {}; }
  kernel::Result<std::string> profiles() override;
  kernel::Result<std::string> profile(const std::string& name) override;
  kernel::Result<std::string> agent(const std::string& name) override;
  kernel::Result<std::string> host() override;
  kernel::Result<std::string> plan(const kernel::Request& request) override;
  kernel::Result<std::string> doctor() override;
  bool runs_have_own_user() const override { return sandbox_.host().uid == 0; }

  struct Started {
    RunRecord record;  // as it is before the first event
    std::unique_ptr<kernel::Run> run;
  };
  kernel::Result<Started> start(const kernel::Request& request, kernel::RunOptions options);

 private:
  EmbeddedBackend(kernel::Catalog catalog, kernel::Sandbox sandbox)
      : catalog_(std::move(catalog)), sandbox_(std::move(sandbox)) {}

  struct Resolved {
    kernel::SandboxPolicy policy;
    std::vector<std::string> command;
  };
  kernel::Result<const kernel::Profile*> find_profile(const std::string& name) const;
  kernel::Result<const kernel::AgentTemplate*> find_agent(const std::string& name) const;
  kernel::Result<Resolved> resolve(const kernel::Request& request) const;

  RuntimeVersion version_of(const Runtime& runtime) const;

  kernel::Catalog catalog_;
  kernel::Sandbox sandbox_;
};

// The record of a run that is over.
RunRecord finished_record(RunRecord record, kernel::Run& run);

}  // namespace paddock::supervisor::cli
