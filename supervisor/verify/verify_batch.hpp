#pragma once
// VerifyBatch: a verify request whose items only have to be judged. Plain data.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernel/policy/policy.hpp"
#include "kernel/policy/profile.hpp"
#include "supervisor/runtimes/runtime.hpp"
#include "supervisor/verify/item.hpp"
#include "supervisor/verify/judging.hpp"
#include "supervisor/verify/verify_wishes.hpp"

namespace paddock::supervisor {

struct VerifyBatch {
  std::string tenant;
  std::string request_id;  // empty: none
  std::string profile;
  Scoring scoring = Scoring::fraction;
  Stop stop = Stop::all;
  std::optional<std::chrono::milliseconds> deadline;  // from its arrival
  bool cache = false;
  bool known_answers = true;
  std::vector<std::variant<ResolvedItem, RefusedItem>> items;  // in the order of the request
};

// What a request is resolved against.
struct VerifySetting {
  std::string tenant;
  const kernel::Profile& profile;  // of the request, or the default one
  const Runtimes& runtimes;
  // The profile that a language names: for requests that name none. Fails if the caller may not use
  // it, or it cannot be had here. Empty: it is never asked for.
  std::function<kernel::Result<const kernel::Profile*>(const std::string& name)> profile_named{};
  std::chrono::milliseconds item_wall_clock = item_wall_clock_default;  // of items without one
  VerifyWishes wishes{};  // of requests that do not ask for cold runs
};

// Gives each item its policies, and stdio ones their runtime. An item that asks for more than the
// profile has, or for a language that there is not, becomes a RefusedItem. The caller has found
// that the profile can be had here. Fails with sandbox_policy_error. Pure.
kernel::Result<VerifyBatch> resolve_batch(VerifyRequest request, const VerifySetting& setting);

// Why nothing of it can be judged: the first item's mistake, if every one has one.
std::optional<std::string> refusal_of_all(const VerifyBatch& batch);

}  // namespace paddock::supervisor
