#include "supervisor/config/health_store.hpp"

namespace paddock::supervisor {

using kernel::Result;

Result<void> HealthStore::examine(const std::map<std::string, kernel::Profile>& profiles) {
  const kernel::DoctorReport known = still_known(report_, examined_, profiles);
  auto report = kernel::examine(sandbox_, profiles, kernel::Thoroughness::without_waits, known);
  examined_ = profiles;
  if (report) {
    report_ = std::move(*report);
    refusals_ = kernel::refusals(report_);
    return {};
  }
  // What nobody has seen hold is not handed out.
  report_ = known;
  for (const auto& [name, profile] : profiles) {
    if (kernel::find_profile(known, name) != nullptr) continue;
    report_.profiles.push_back({.profile = name,
                                .refused = {},
                                .missing = {},
                                .probes = {.not_run = report.error().message, .results = {}}});
  }
  refusals_ = kernel::refusals(report_);
  return tl::unexpected<kernel::Error>(report.error());
}

kernel::DoctorReport still_known(const kernel::DoctorReport& report,
                                 const std::map<std::string, kernel::Profile>& examined,
                                 const std::map<std::string, kernel::Profile>& profiles) {
  kernel::DoctorReport known = report;
  const auto refused = kernel::refusals(report);
  std::erase_if(known.profiles, [&](const kernel::ProfileHealth& health) {
    const auto before = examined.find(health.profile);
    const auto now = profiles.find(health.profile);
    return refused.contains(health.profile) || before == examined.end() || now == profiles.end() ||
           before->second != now->second;
  });
  return known;
}

}  // namespace paddock::supervisor
