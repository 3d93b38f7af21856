#pragma once
// HealthStore: what the doctor found about the profiles in force, and which of them are refused for
// it.

#include <map>
#include <string>

#include "kernel/probe/doctor.hpp"

namespace paddock::supervisor {

class HealthStore {
 public:
  explicit HealthStore(const kernel::Sandbox& sandbox) : sandbox_(sandbox) {}

  // Probes the profiles that are new, have changed or were refused. Blocks: see run_probes. Fails
  // if nothing could be probed; then all of those are refused.
  kernel::Result<void> examine(const std::map<std::string, kernel::Profile>& profiles);

  const kernel::DoctorReport& report() const { return report_; }
  const kernel::Refusals& refusals() const { return refusals_; }

 private:
  const kernel::Sandbox& sandbox_;
  std::map<std::string, kernel::Profile> examined_;  // as they were then
  kernel::DoctorReport report_;
  kernel::Refusals refusals_;
};

// What of `report` still holds when `profiles` take the place of `examined`. Pure.
kernel::DoctorReport still_known(const kernel::DoctorReport& report,
                                 const std::map<std::string, kernel::Profile>& examined,
                                 const std::map<std::string, kernel::Profile>& profiles);

}  // namespace paddock::supervisor
