#include "supervisor/api/verify_admission.hpp"

#include "kernel/policy/names.hpp"
#include "supervisor/api/admission.hpp"

namespace paddock::supervisor {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

Result<VerifyBatch> admit_batch(const ApiContext& context, const Caller& caller,
                                VerifyRequest request) {
  const kernel::Catalog& catalog = context.config_store.catalog();
  const auto admitted = [&, allow_degraded = request.allow_degraded](
                            const std::string& name) -> Result<const kernel::Profile*> {
    kernel::Request run;
    run.profile = name;
    run.argv = {"python3"};
    run.allow_degraded = allow_degraded;
    TRY_VOID(admit(run, caller, catalog, context.sandbox, context.health.refusals())
                 .map([](const ResolvedRun&) {}));
    return &catalog.profiles.at(name);
  };
  const kernel::Profile* const profile =
      TRY(admitted(request.profile.empty() ? kernel::unread_code_profile_name : request.profile));
  VerifyBatch batch = TRY(resolve_batch(
      std::move(request), {.tenant = caller.tenant,
                           .profile = *profile,
                           .runtimes = context.config_store.runtimes(),
                           .profile_named = admitted,
                           .item_wall_clock = context.verifier.limits().item_wall_clock,
                           .wishes = context.verify_wishes}));
  if (auto why = refusal_of_all(batch)) return fail(ErrorCode::invalid_request, std::move(*why));
  return batch;
}

}  // namespace paddock::supervisor
