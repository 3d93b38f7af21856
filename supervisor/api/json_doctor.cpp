// The doctor's report -> JSON.

#include <nlohmann/json.hpp>

#include "supervisor/api/json.hpp"
#include "supervisor/json/dump.hpp"

namespace paddock::supervisor {
namespace {

using ordered_json = nlohmann::ordered_json;

ordered_json finding_object(const kernel::Finding& finding) {
  return {{"name", finding.name},
          {"severity", name_of(finding.severity)},
          {"profiles", finding.profiles},
          {"cause", finding.cause},
          {"fix", finding.fix}};
}

ordered_json probe_object(const kernel::ProbeResult& result) {
  return {{"name", result.name},
          {"control", result.control},
          {"verdict", name_of(result.verdict)},
          {"answer", result.confined},
          {"unconfined", result.unconfined}};
}

ordered_json profile_object(const kernel::ProfileHealth& health) {
  ordered_json missing = ordered_json::array();
  for (const kernel::MissingControl& control : health.missing)
    missing.push_back(
        {{"name", control.name}, {"required", control.required}, {"cause", control.cause}});
  ordered_json probes = ordered_json::array();
  for (const kernel::ProbeResult& result : health.probes.results)
    probes.push_back(probe_object(result));
  const std::string by_probe = refusal(health.profile, health.probes);
  return {{"name", health.profile},
          {"enforced", health.is_enforced()},
          {"refused", by_probe.empty() ? health.refused : by_probe},
          {"missing", std::move(missing)},
          {"probes", std::move(probes)}};
}

ordered_json language_object(const Language& language) {
  return {{"name", language.name},
          {"there", language.version.is_there},
          {"version", language.version.version},
          {"cause", language.version.why},
          {"fix", language.fix}};
}

}  // namespace

std::string doctor_to_json(const kernel::DoctorReport& report,
                           const std::vector<Language>& languages) {
  ordered_json findings = ordered_json::array();
  for (const kernel::Finding& finding : report.findings)
    findings.push_back(finding_object(finding));
  ordered_json profiles = ordered_json::array();
  for (const kernel::ProfileHealth& health : report.profiles)
    profiles.push_back(profile_object(health));
  ordered_json of_languages = ordered_json::array();
  for (const Language& language : languages) of_languages.push_back(language_object(language));
  const ordered_json object = {{"findings", std::move(findings)},
                               {"profiles", std::move(profiles)},
                               {"languages", std::move(of_languages)}};
  return dump_line(object);
}

}  // namespace paddock::supervisor
