#include "supervisor/runs/policy_texts.hpp"

#include "kernel/base/hash.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

kernel::SandboxPolicy policy(std::uint64_t memory_bytes) {
  kernel::SandboxPolicy made;
  made.memory_bytes = memory_bytes;
  return made;
}

}  // namespace

TEST_CASE("the text of a policy is its own, however many others were asked for meanwhile") {
  PolicyTexts texts;
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t bytes = 1; bytes <= PolicyTexts::known_max + 2; ++bytes) {
      const auto& known = texts.of(policy(bytes));
      CHECK(known.text == kernel::canonical_text(policy(bytes)));
      CHECK(known.hash == kernel::policy_hash(policy(bytes)));
      CHECK(texts.of(policy(1)).hash == kernel::policy_hash(policy(1)));
    }
}

TEST_CASE("a policy that differs in anything has a text of its own") {
  PolicyTexts texts;
  kernel::SandboxPolicy one = policy(1 << 20);
  kernel::SandboxPolicy other = one;
  other.wall_clock = std::chrono::milliseconds(1234);
  CHECK(texts.of(one).hash != texts.of(other).hash);
  CHECK(texts.of(other).text == kernel::canonical_text(other));
}
