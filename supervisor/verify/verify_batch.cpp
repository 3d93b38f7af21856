#include "supervisor/verify/verify_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "kernel/policy/names.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Request;
using kernel::Result;
using kernel::SandboxPolicy;
using std::chrono::milliseconds;

// At its deadline it is killed at once: its verdict is known, and others wait for its slot.
Result<std::shared_ptr<const SandboxPolicy>> resolve_without_grace(const kernel::Profile& profile,
                                                                   const Request& request) {
  SandboxPolicy policy = TRY(kernel::resolve(profile, request));
  policy.grace = milliseconds(0);
  return std::make_shared<const SandboxPolicy>(std::move(policy));
}

struct Resolved {
  std::shared_ptr<const SandboxPolicy> policy;
  std::string hash;
};

// Thousands of items have few policies between them.
class Policies {
 public:
  Policies(const kernel::Profile& profile, Request base, milliseconds item_wall_clock)
      : profile_(profile), base_(std::move(base)) {
    base_.profile = profile.name;
    wall_clock_ = std::min(item_wall_clock, profile.wall_clock.value_or(item_wall_clock));
  }

  Result<Resolved> of(const Request& limits) {
    Request request = base_;
    request.wall_clock = limits.wall_clock.value_or(wall_clock_);
    request.cpu_seconds = limits.cpu_seconds;
    request.memory_bytes = limits.memory_bytes;
    request.fsize_bytes = limits.fsize_bytes;
    request.nproc = limits.nproc;
    request.nofile = limits.nofile;
    request.output_bytes = limits.output_bytes;
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const auto& entry) { return entry.first == request; });
    if (known != known_.end()) return known->second;
    auto policy = TRY(resolve_without_grace(profile_, request));
    Resolved resolved{.policy = policy, .hash = kernel::policy_hash(*policy)};
    if (known_.size() < known_max) known_.emplace_back(std::move(request), resolved);
    return resolved;
  }

  // With the profile's own limits.
  Result<std::shared_ptr<const SandboxPolicy>> own() {
    if (!own_) own_ = TRY(resolve_without_grace(profile_, base_));
    return own_;
  }

 private:
  static constexpr std::size_t known_max = 32;
  const kernel::Profile& profile_;
  Request base_;
  milliseconds wall_clock_{};
  std::vector<std::pair<Request, Resolved>> known_;
  std::shared_ptr<const SandboxPolicy> own_;
};

Result<std::shared_ptr<const Runtime>> runtime_of(
    const std::string& language, const Runtimes& runtimes,
    std::map<std::string, std::shared_ptr<const Runtime>>& known) {
  if (const auto at = known.find(language); at != known.end()) return at->second;
  const Runtime* const found = find_runtime(runtimes, language);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, runtime] : runtimes) names.push_back(name);
    const std::string nearest = kernel::nearest_name(language, names);
    std::string known_names = names.empty() ? "none" : kernel::quoted_list(names);
    return fail(
        ErrorCode::invalid_request,
        nearest.empty()
            ? fmt::format("language: there is no '{}', only {}", language, known_names)
            : fmt::format("language: there is no '{}'; did you mean '{}'?", language, nearest));
  }
  return known[language] = std::make_shared<const Runtime>(*found);
}

// Whoever asks for it in so many words is told why it cannot be had.
std::shared_ptr<const WarmWish> explained(std::shared_ptr<const WarmWish> wish, bool is_asked,
                                          const char* why) {
  if (wish || !is_asked) return wish;
  return std::make_shared<const WarmWish>(
      WarmWish{.runtime = "none", .program = {}, .cold_because = why});
}

std::shared_ptr<const WarmWish> wish_of_program(const VerifyWishes& wishes, const Runtime& runtime,
                                                bool is_asked) {
  const auto known = wishes.stdio.find(runtime.name);
  if (known == wishes.stdio.end()) return explained(nullptr, is_asked, "[verify] warm is false");
  const bool can_be_had = known->second->cold_because.empty();
  return can_be_had || is_asked ? known->second : nullptr;
}

void set_wishes(const VerifyWishes& wishes, Integrity integrity, bool is_asked,
                ResolvedItem& item) {
  const auto of_python = [is_asked](const std::shared_ptr<const WarmWish>& wish) {
    return explained(wish, is_asked,
                     "[verify] warm is false, or the runtime of python has no [warm]");
  };
  switch (integrity) {
    case Integrity::separate:
      item.candidate_warm = of_python(wishes.candidate);
      item.judge_warm = of_python(wishes.judge);
      break;
    case Integrity::in_process:
      item.candidate_warm = of_python(wishes.in_process);
      break;
    case Integrity::stdio:
      item.candidate_warm = wish_of_program(wishes, *item.runtime, is_asked);
      break;
  }
}

// A language names a profile for the virtual memory that it cannot start without.
Result<void> check_memory(const Runtime& runtime, const kernel::Profile& needed,
                          const kernel::Profile& asked) {
  const auto& most = asked.limits.memory_bytes;
  if (!most || (needed.limits.memory_bytes && *needed.limits.memory_bytes <= *most)) return {};
  return fail(
      ErrorCode::invalid_request,
      fmt::format("language: '{}' does not start under the memory_bytes of profile {}; name "
                  "{}, or no profile",
                  runtime.name, asked.name, needed.name));
}

}  // namespace

Result<VerifyBatch> resolve_batch(VerifyRequest request, const VerifySetting& setting) {
  Request base;
  const bool is_named = !request.profile.empty();
  base.profile = setting.profile.name;
  base.tenant = setting.tenant;
  base.argv = {"python3"};
  base.allow_degraded = request.allow_degraded;
  std::map<std::string, Policies> policies;  // by the name of their profile
  const auto policies_of = [&](const kernel::Profile& profile) -> Policies& {
    return policies.try_emplace(profile.name, profile, base, setting.item_wall_clock).first->second;
  };
  TRY_VOID(policies_of(setting.profile).own());
  // The profile of an item: its request's, or where that names none its language's.
  const auto profile_of = [&](const ResolvedItem& item) -> Result<const kernel::Profile*> {
    const bool has_own = item.runtime && !item.runtime->profile.empty() && setting.profile_named;
    if (!has_own || item.runtime->profile == setting.profile.name) return &setting.profile;
    const auto own = setting.profile_named(item.runtime->profile);
    if (!is_named && !own)
      return fail(ErrorCode::invalid_request, "language: " + own.error().message);
    if (!is_named) return *own;
    if (own) TRY_VOID(check_memory(*item.runtime, **own, setting.profile));
    return &setting.profile;
  };
  std::map<std::string, std::shared_ptr<const Runtime>> runtimes;

  const auto resolve_item = [&](Item& item) -> Result<ResolvedItem> {
    ResolvedItem resolved;
    if (item.integrity == Integrity::stdio)
      resolved.runtime = TRY(runtime_of(item.language, setting.runtimes, runtimes));
    const kernel::Profile* const profile = TRY(profile_of(resolved));
    Policies& policies_of_profile = policies_of(*profile);
    auto policy = policies_of_profile.of(item.limits);
    if (!policy) return fail(ErrorCode::invalid_request, "limits: " + policy.error().message);
    resolved.candidate_policy = policy->policy;
    resolved.policy_hash = policy->hash;
    resolved.judge_policy = TRY(policies_of_profile.own());
    resolved.tenant = setting.tenant;
    resolved.stop = request.stop;
    if (request.warm.value_or(true))
      set_wishes(setting.wishes, item.integrity, request.warm.has_value(), resolved);
    resolved.item = std::move(item);
    return resolved;
  };

  VerifyBatch batch;
  batch.tenant = setting.tenant;
  batch.request_id = std::move(request.request_id);
  batch.profile = setting.profile.name;
  batch.scoring = request.scoring;
  batch.stop = request.stop;
  batch.deadline = request.deadline;
  batch.cache = request.cache;
  batch.known_answers = request.known_answers;
  for (auto& each : request.items) {
    if (auto* const refused = std::get_if<RefusedItem>(&each)) {
      batch.items.emplace_back(std::move(*refused));
      continue;
    }
    Item& item = std::get<Item>(each);
    auto resolved = resolve_item(item);
    if (resolved) {
      batch.items.emplace_back(std::move(*resolved));
    } else {
      batch.items.emplace_back(
          RefusedItem{.id = item.id, .group = item.group, .why = resolved.error().message});
    }
  }
  return batch;
}

std::optional<std::string> refusal_of_all(const VerifyBatch& batch) {
  for (const auto& item : batch.items)
    if (std::holds_alternative<ResolvedItem>(item)) return std::nullopt;
  const auto& first = std::get<RefusedItem>(batch.items.front());
  return fmt::format("items[0]: {}{}", first.why,
                     batch.items.size() == 1
                         ? ""
                         : fmt::format(" (and none of the other {} can be judged either)",
                                       batch.items.size() - 1));
}

}  // namespace paddock::supervisor
