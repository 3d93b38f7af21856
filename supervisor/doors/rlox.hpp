#pragma once
// rlox's POST /verify: one item with assertions in, a reward and the fourteen numbers of its
// backend out.

#include <chrono>
#include <string>
#include <string_view>

#include "kernel/base/error.hpp"
#include "supervisor/verify/item.hpp"
#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor::rlox {

struct Verify {
  VerifyRequest request;  // of one item
  bool is_adversarial = false;

  bool operator==(const Verify&) const = default;
};

// Fails with invalid_request and names the key, also for tests without an assertion. Keys that the
// protocol does not have are left alone.
kernel::Result<Verify> parse(std::string_view body, const std::string& profile);

// Why there is no reward; nothing if there is one. What the tests themselves are to blame for is
// invalid_request, everything else a fault of the host.
std::optional<kernel::Error> fault_of(const ItemAnswer& answer);

// Of an answer without a fault. `time`: from the request on.
std::string render(const ItemAnswer& answer, bool is_adversarial,
                   std::chrono::duration<double> time);

}  // namespace paddock::supervisor::rlox
