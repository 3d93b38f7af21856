#include "supervisor/api/canary_run.hpp"

#include <algorithm>

#include "kernel/policy/names.hpp"
#include "supervisor/api/errors.hpp"
#include "supervisor/runs/canary.hpp"

namespace paddock::supervisor {
namespace {

// The one of unread code first.
std::vector<std::string> profiles_in_order(const kernel::Catalog& catalog) {
  std::vector<std::string> names;
  for (const auto& [name, profile] : catalog.profiles) names.push_back(name);
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) {
    return name == kernel::unread_code_profile_name;
  });
  return names;
}

}  // namespace

kernel::Result<ResolvedRun> canary_run(const kernel::Catalog& catalog,
                                       const kernel::Sandbox& sandbox,
                                       const kernel::Refusals& refusals) {
  std::optional<kernel::Error> first_refusal;
  for (const std::string& profile : profiles_in_order(catalog)) {
    kernel::Request request;
    request.profile = profile;
    request.argv = {"true"};
    auto run = admit(request, operator_caller(), catalog, sandbox, refusals);
    if (run) {
      run->policy.wall_clock =
          std::min(run->policy.wall_clock.value_or(canary_time_max), canary_time_max);
      return run;
    }
    if (!first_refusal) first_refusal = run.error();
  }
  if (!first_refusal)
    return kernel::fail(kernel::ErrorCode::sandbox_not_available, "there is no profile");
  return tl::unexpected<kernel::Error>(*first_refusal);
}

kernel::Result<std::vector<ResolvedItem>> gold_items_under(const std::string& profile,
                                                           const kernel::Catalog& catalog,
                                                           const VerifyWishes& wishes) {
  const auto at = catalog.profiles.find(profile);
  if (at == catalog.profiles.end())
    return kernel::fail(kernel::ErrorCode::unknown_profile,
                        unknown_name("profile", profile, catalog.profiles));
  return gold_items(at->second, wishes);
}

kernel::Result<ResolvedRun> version_run(const Runtime& runtime,
                                        const std::vector<std::string>& command,
                                        const kernel::Catalog& catalog,
                                        const kernel::Sandbox& sandbox,
                                        const kernel::Refusals& refusals) {
  kernel::Request request;
  request.profile = runtime.profile.empty() ? kernel::unread_code_profile_name : runtime.profile;
  request.argv = command;
  return admit(request, operator_caller(), catalog, sandbox, refusals);
}

}  // namespace paddock::supervisor
