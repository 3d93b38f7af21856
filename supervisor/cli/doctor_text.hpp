#pragma once
// What doctor found, as text and as JSON. Pure.

#include <string>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

struct DoctorAnswers {
  std::string host;    // the API's JSON of GET /v1/host
  std::string doctor;  // and of GET /v1/doctor
  std::string daemon;  // its socket; empty: none was asked
};

kernel::Result<std::string> doctor_text(const DoctorAnswers& answers);
kernel::Result<std::string> doctor_json(const DoctorAnswers& answers);

// The profile runs here, with everything that it asks for, and no probe got through. Fails with
// unknown_profile.
kernel::Result<bool> is_enforced(const DoctorAnswers& answers, const std::string& profile);

}  // namespace paddock::supervisor::cli
