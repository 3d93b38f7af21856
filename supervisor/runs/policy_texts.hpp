#pragma once
// PolicyTexts: the canonical texts of policies, and their hashes. The runs of a daemon have few
// policies, and each of them many runs.

#include <cstddef>
#include <list>
#include <string>

#include "kernel/policy/policy.hpp"

namespace paddock::supervisor {

class PolicyTexts {
 public:
  static constexpr std::size_t known_max = 16;  // policies

  struct Text {
    std::string text;
    std::string hash;
  };

  // Valid until the next call.
  const Text& of(const kernel::SandboxPolicy& policy);

 private:
  struct Known {
    kernel::SandboxPolicy policy;
    Text text;
  };

  std::list<Known> known_;  // the one that was asked for last comes first
};

}  // namespace paddock::supervisor
