#include "supervisor/api/verify_admission.hpp"

#include "supervisor/api/admission.hpp"

namespace paddock::supervisor {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

Result<VerifyBatch> admit_batch(const ApiContext& context, const Caller& caller,
                                VerifyRequest request) {
  kernel::Request run;
  run.profile = request.profile;
  run.argv = {"python3"};
  run.allow_degraded = request.allow_degraded;
  const kernel::Catalog& catalog = context.catalog.catalog();
  TRY_VOID(admit(run, caller, catalog, context.sandbox, context.health.refusals())
               .map([](const ResolvedRun&) {}));
  VerifyBatch batch = TRY(resolve_batch(
      std::move(request), {.tenant = caller.tenant,
                           .profile = catalog.profiles.at(run.profile),
                           .runtimes = context.catalog.runtimes(),
                           .item_wall_clock = context.verifier.limits().item_wall_clock}));
  if (auto why = refusal_of_all(batch)) return fail(ErrorCode::invalid_request, std::move(*why));
  return batch;
}

}  // namespace paddock::supervisor
