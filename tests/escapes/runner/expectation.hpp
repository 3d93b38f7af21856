#pragma once
// What a profile promises about an attempt, and whether an observation keeps the promise. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "escapes/runner/observation.hpp"

namespace paddock::escapes {

// A control that not every host or kernel has.
enum class Need { nothing, memory_cgroup, landlock, signal_scope };

struct Expectation {
  std::vector<std::string_view> words;  // any of these stops it as promised
  std::string_view open_because;        // not empty: the profile does not promise to stop it
  Need need = Need::nothing;
};

Expectation stopped(std::vector<std::string_view> words, Need need = Need::nothing);
Expectation open(std::string_view reason);

enum class Verdict { stopped, open, unsupported, failed };

struct Judgement {
  Verdict verdict = Verdict::failed;
  std::string word;    // "EPERM" of what stopped it
  std::string reason;  // why it is open, unsupported or failed

  bool operator==(const Judgement&) const = default;
};

// `missing`: why this host lacks what the expectation needs; empty: it has it.
Judgement judge(const Expectation& expectation, const Observation& seen,
                std::string_view missing = {});

// What the unconfined attempt must do. `may_be_refused`: for a user whom the host itself refuses.
// `lacks`: refusals that say that the host has not what the attempt needs.
Judgement judge_control(const Observation& seen, bool may_be_refused,
                        const std::vector<std::string_view>& lacks);

std::string_view name_of(Verdict verdict);

}  // namespace paddock::escapes
