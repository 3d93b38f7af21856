// Profiles, and the reload of profiles and agents.

#include <fmt/format.h>

#include "supervisor/api/api.hpp"
#include "supervisor/api/errors.hpp"
#include "supervisor/api/json.hpp"

namespace paddock::supervisor {

using kernel::ErrorCode;

void get_profiles(const ApiContext& context, const Call& call) {
  respond_json(call.exchange, 200, profiles_to_json(context.config_store.catalog().profiles));
}

void get_profile(const ApiContext& context, const Call& call) {
  const auto& profiles = context.config_store.catalog().profiles;
  const auto at = profiles.find(call.id);
  if (at == profiles.end())
    return respond_error(call.exchange,
                         {ErrorCode::unknown_profile, unknown_name("profile", call.id, profiles)});
  respond_json(call.exchange, 200, profile_to_json(at->second));
}

void post_reload(const ApiContext& context, const Call& call) {
  const auto diagnostics = context.config_store.reload();
  context.on_reload(diagnostics);
  if (!diagnostics.empty())
    return respond_error(
        call.exchange,
        {ErrorCode::sandbox_policy_error,
         fmt::format("{} mistake{}; the profiles and agents that were in force stay",
                     diagnostics.size(), diagnostics.size() == 1 ? "" : "s")},
        diagnostics);
  const kernel::Catalog& catalog = context.config_store.catalog();
  respond_json(call.exchange, 200,
               fmt::format("{{\"profiles\":{},\"agents\":{}}}\n", catalog.profiles.size(),
                           catalog.agents.size()));
}

}  // namespace paddock::supervisor
