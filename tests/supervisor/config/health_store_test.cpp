#include "supervisor/config/health_store.hpp"

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

using Profiles = std::map<std::string, kernel::Profile>;

kernel::Profile profile(const std::string& name, std::uint64_t nofile) {
  kernel::Profile made;
  made.name = name;
  made.limits.nofile = nofile;
  return made;
}

kernel::ProfileHealth health(const std::string& name, kernel::ProbeVerdict verdict) {
  return {.profile = name,
          .refused = {},
          .missing = {},
          .probes = {.not_run = {},
                     .results = {{"nofile_holds", "nofile", verdict, "done", "refused EMFILE"}}}};
}

std::vector<std::string> names(const kernel::DoctorReport& report) {
  std::vector<std::string> names;
  for (const kernel::ProfileHealth& one : report.profiles) names.push_back(one.profile);
  return names;
}

}  // namespace

TEST_CASE("what was probed is known as long as its profile stays the same and was not refused") {
  const Profiles before = {{"SAME", profile("SAME", 10)},
                           {"CHANGED", profile("CHANGED", 10)},
                           {"REFUSED", profile("REFUSED", 10)},
                           {"GONE", profile("GONE", 10)}};
  const kernel::DoctorReport report{.findings = {},
                                    .profiles = {health("CHANGED", kernel::ProbeVerdict::passed),
                                                 health("GONE", kernel::ProbeVerdict::passed),
                                                 health("REFUSED", kernel::ProbeVerdict::failed),
                                                 health("SAME", kernel::ProbeVerdict::passed)},
                                    .bubblewrap_follows_links = true};
  Profiles after = before;
  after.erase("GONE");
  after.at("CHANGED").limits.nofile = 11;
  after["NEW"] = profile("NEW", 10);
  const kernel::DoctorReport known = still_known(report, before, after);
  CHECK(names(known) == std::vector<std::string>{"SAME"});
  CHECK(known.bubblewrap_follows_links == true);
  CHECK(still_known({}, {}, after).profiles.empty());
}
