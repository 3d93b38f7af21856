#pragma once
// Zygotes: those whose forks the attempts are, where warm runs are what is attacked.

#include <map>
#include <memory>
#include <string>

#include "kernel/base/error.hpp"
#include "kernel/policy/policy.hpp"
#include "kernel/run/sandbox.hpp"
#include "kernel/warm/zygote.hpp"

namespace paddock::escapes {

// The words with which a run of such a zygote executes `argv`.
std::vector<std::string> executed_by_fork(const std::vector<std::string>& argv);

class Zygotes {
 public:
  explicit Zygotes(const kernel::Sandbox& sandbox) : sandbox_(sandbox) {}
  ~Zygotes();
  Zygotes(const Zygotes&) = delete;
  Zygotes& operator=(const Zygotes&) = delete;

  // Two runs that are live at the same time never have the same zygote: `number` tells them apart.
  // Fails where such a run has to be cold.
  kernel::Result<kernel::ZygoteLine*> ready(const kernel::SandboxPolicy& policy, int number);

  bool is_one(pid_t pid) const;  // the launcher of one
  // How many have ended since the last call: a run has no business to end one.
  int count_lost();

  // In a process that was forked: those that it has are its parent's.
  void forget();

 private:
  kernel::Result<kernel::StartedZygote> start(const kernel::SandboxPolicy& policy);

  const kernel::Sandbox& sandbox_;
  std::map<std::string, kernel::StartedZygote> zygotes_;
  int started_ = 0;
};

}  // namespace paddock::escapes
