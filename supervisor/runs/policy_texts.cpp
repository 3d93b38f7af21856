#include "supervisor/runs/policy_texts.hpp"

#include <algorithm>
#include <utility>

#include "kernel/base/hash.hpp"

namespace paddock::supervisor {

const PolicyTexts::Text& PolicyTexts::of(const kernel::SandboxPolicy& policy) {
  const auto at = std::find_if(known_.begin(), known_.end(),
                               [&](const Known& known) { return known.policy == policy; });
  if (at != known_.end()) {
    known_.splice(known_.begin(), known_, at);
    return known_.front().text;
  }
  std::string text = kernel::canonical_text(policy);
  std::string hash = kernel::sha256_hex(text);
  known_.push_front({policy, {.text = std::move(text), .hash = std::move(hash)}});
  if (known_.size() > known_max) known_.pop_back();
  return known_.front().text;
}

}  // namespace paddock::supervisor
