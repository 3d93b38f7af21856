#pragma once
// The runs that the daemon makes of its own accord. The one by which it sees that it still can is
// `true`, under STRICT or, where that is refused, under the first profile that is not.

#include "supervisor/api/admission.hpp"
#include "supervisor/runtimes/runtime.hpp"
#include "supervisor/verify/gold_items.hpp"

namespace paddock::supervisor {

// Fails with sandbox_not_available if every profile is refused, else as admit().
kernel::Result<ResolvedRun> canary_run(const kernel::Catalog& catalog,
                                       const kernel::Sandbox& sandbox,
                                       const kernel::Refusals& refusals);

// The items that are judged after it, under its profile. Fails with unknown_profile if a reload has
// taken it away, else as gold_items().
kernel::Result<std::vector<ResolvedItem>> gold_items_under(const std::string& profile,
                                                           const kernel::Catalog& catalog,
                                                           const VerifyWishes& wishes);

// The run that asks a runtime for its version. Fails as admit().
kernel::Result<ResolvedRun> version_run(const Runtime& runtime,
                                        const std::vector<std::string>& command,
                                        const kernel::Catalog& catalog,
                                        const kernel::Sandbox& sandbox,
                                        const kernel::Refusals& refusals);

}  // namespace paddock::supervisor
