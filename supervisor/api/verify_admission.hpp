#pragma once
// From a verify request to items that only have to be judged: the same checks as for a run.

#include "supervisor/api/api.hpp"
#include "supervisor/verify/item.hpp"
#include "supervisor/verify/verify_batch.hpp"

namespace paddock::supervisor {

// Fails as admit() does, and with invalid_request if not one of the items can be judged.
kernel::Result<VerifyBatch> admit_batch(const ApiContext& context, const Caller& caller,
                                        VerifyRequest request);

}  // namespace paddock::supervisor
