#include "kernel/probe/doctor.hpp"

#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

ProfileHealth healthy(const std::string& profile) {
  ProfileHealth health{.profile = profile, .refused = {}, .missing = {}, .probes = {}};
  health.probes.results = {{"a_holds", "a", ProbeVerdict::passed, "done", "refused EPERM"}};
  return health;
}

}  // namespace

TEST_CASE("a profile is enforced if nothing is missing and no probe got through") {
  CHECK(healthy("MINE").is_enforced());
  ProfileHealth refused = healthy("MINE");
  refused.refused = "no bubblewrap";
  CHECK_FALSE(refused.is_enforced());
  ProfileHealth missing = healthy("MINE");
  missing.missing = {{"NO-MEMORY-CEILING(cgroup)", false, "no cgroup"}};
  CHECK_FALSE(missing.is_enforced());
  ProfileHealth broken = healthy("MINE");
  broken.probes.results.front().verdict = ProbeVerdict::failed;
  CHECK_FALSE(broken.is_enforced());
  ProfileHealth not_run = healthy("MINE");
  not_run.probes.not_run = "no room";
  CHECK_FALSE(not_run.is_enforced());
  ProfileHealth cannot_tell = healthy("MINE");
  cannot_tell.probes.results.front().verdict = ProbeVerdict::unsupported;
  CHECK(cannot_tell.is_enforced());
}

TEST_CASE("refused are the profiles that a probe speaks against, and no others") {
  ProfileHealth broken = healthy("BROKEN");
  broken.probes.results.front().verdict = ProbeVerdict::failed;
  ProfileHealth missing = healthy("POOR");
  missing.missing = {{"NO-LANDLOCK(kernel)", true, "no Landlock"}};
  missing.refused = "requires Landlock";  // whoever asks for it is told, or may allow_degraded
  const DoctorReport report{.findings = {}, .profiles = {broken, healthy("GOOD"), missing}};
  const auto refused = refusals(report);
  REQUIRE(refused.size() == 1);
  CHECK(refused.at("BROKEN").find("'a_holds'") != std::string::npos);
  CHECK(find_profile(report, "GOOD") == &report.profiles[1]);
  CHECK(find_profile(report, "NONE") == nullptr);
}
