#pragma once
// A zygote for tests, and warm runs of it.

#include "kernel/warm/zygote.hpp"
#include "sandbox/sandbox_fixture.hpp"

namespace paddock::tests {

// Drives them until `is_over`, or all are finished.
void drive_until(const std::vector<kernel::Run*>& runs, const std::function<bool()>& is_over);
void drive_for(const std::vector<kernel::Run*>& runs, std::chrono::milliseconds time);
kernel::SandboxResult finish(kernel::Run& run);  // not its zygote

class WarmPython {
 public:
  // Skips nothing: the test fails if the zygote does not get ready.
  explicit WarmPython(kernel::SandboxPolicy policy, std::vector<std::string> modules = {},
                      std::vector<std::string> programs = {}, const std::string& cgroup_base = "");
  WarmPython(const kernel::ZygoteProgram& program, kernel::SandboxPolicy policy,
             const std::string& cgroup_base = "");
  ~WarmPython();
  WarmPython(const WarmPython&) = delete;
  WarmPython& operator=(const WarmPython&) = delete;

  const kernel::Sandbox& sandbox() const { return sandbox_; }
  kernel::Run& zygote() { return *zygote_.run; }
  kernel::ZygoteLine& line() { return zygote_.line; }
  kernel::SandboxPolicy& policy() { return policy_; }
  const kernel::SandboxPolicy& policy() const { return policy_; }

  std::unique_ptr<kernel::Run> start(const std::string& code, kernel::RunOptions options = {},
                                     std::vector<std::string> arguments = {});
  kernel::SandboxResult run(const std::string& code, kernel::RunOptions options = {},
                            std::vector<std::string> arguments = {});
  kernel::SandboxResult run_words(const Argv& argv, kernel::RunOptions options);
  kernel::SandboxResult run_cold(const std::string& code, const RunInput& input = {});

 private:
  kernel::SandboxPolicy policy_;
  kernel::Sandbox sandbox_;
  kernel::StartedZygote zygote_;
};

}  // namespace paddock::tests
