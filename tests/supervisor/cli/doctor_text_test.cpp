#include "supervisor/cli/doctor_text.hpp"

#include "supervisor/api/json.hpp"
#include "support/catch.hpp"
#include "support/sample_host.hpp"
#include "support/text.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::supervisor::cli;
using kernel::ProbeVerdict;

namespace {

kernel::ProfileHealth healthy(const std::string& name) {
  return {.profile = name,
          .refused = {},
          .missing = {},
          .probes = {.not_run = {},
                     .results = {{"nproc_holds", "nproc", ProbeVerdict::passed, "done",
                                  "refused EAGAIN"}}}};
}

DoctorAnswers answers_for(const kernel::DoctorReport& report,
                          const std::vector<Language>& languages = {}) {
  return {.host = host_to_json(merged_host(), std::nullopt, ""),
          .doctor = doctor_to_json(report, languages),
          .daemon = ""};
}

std::string text_for(const kernel::DoctorReport& report) {
  const auto text = doctor_text(answers_for(report));
  REQUIRE(text);
  return *text;
}

}  // namespace

TEST_CASE("a probe that got through makes the profile a refused one, and is named") {
  kernel::ProfileHealth broken = healthy("BROKEN");
  broken.probes.results.push_back(
      {"vsock_is_refused", "seccomp", ProbeVerdict::failed, "done", "done"});
  const kernel::DoctorReport report{.findings = {}, .profiles = {broken, healthy("GOOD")}};
  const std::string text = text_for(report);
  INFO(text);
  CHECK(contains(text,
                 "  BROKEN  no: profile 'BROKEN' does not hold here, by its probe "
                 "'vsock_is_refused' (seccomp): done\n"));
  CHECK(contains(text, "1 of 2 probes stopped; got through: vsock_is_refused\n"));
  CHECK(contains(text, "  GOOD    yes\n          1 of 1 probes stopped\n"));
  CHECK(is_enforced(answers_for(report), "BROKEN") == false);
  CHECK(is_enforced(answers_for(report), "GOOD") == true);
  CHECK_FALSE(is_enforced(answers_for(report), "NONE"));
}

TEST_CASE("what this host cannot tell is counted apart, and does not speak against a profile") {
  kernel::ProfileHealth open = healthy("OPEN");
  open.probes.results.push_back(
      {"int80_is_fatal", "seccomp", ProbeVerdict::unsupported, "refused ENOSYS", "refused ENOSYS"});
  const kernel::DoctorReport report{.findings = {}, .profiles = {open}};
  CHECK(contains(text_for(report), "1 of 2 probes stopped; this host cannot tell: int80_is_fatal"));
  CHECK(is_enforced(answers_for(report), "OPEN") == true);
}

TEST_CASE("each language has a line: its version, or what to install") {
  const DoctorAnswers answers = answers_for(
      {}, {{.name = "bash", .version = {.is_there = true, .version = "5.2.15"}},
           {.name = "cpp",
            .version = {.is_there = false, .version = "", .why = "execute 'g++': No such file"},
            .fix = "apt-get install g++"},
           {.name = "odd", .version = {}}});
  const auto text = doctor_text(answers);
  REQUIRE(text);
  INFO(*text);
  CHECK(contains(*text,
                 "\nlanguages\n"
                 "  bash  5.2.15\n"
                 "  cpp   no: execute 'g++': No such file; mend: apt-get install g++\n"
                 "  odd   its version is not known\n"));
  CHECK(contains(text_for({}), "\nlanguages\n  none: there is no runtime\n"));
  const auto json = doctor_json(answers);
  REQUIRE(json);
  CHECK(contains(
      *json, R"({"name":"cpp","there":false,"version":"","cause":"execute 'g++': No such file",)"
             R"("fix":"apt-get install g++"})"));
}

TEST_CASE("a finding stands with whom it hits, its cause and the way to mend it") {
  const kernel::DoctorReport report{.findings = {{"landlock_absent",
                                                  kernel::Severity::weakens,
                                                  {"A", "B"},
                                                  "no Landlock",
                                                  "boot with lsm=landlock"}},
                                    .profiles = {healthy("A")}};
  CHECK(contains(text_for(report),
                 "\n  weakens  landlock_absent: A, B\n"
                 "           no Landlock\n"
                 "           mend: boot with lsm=landlock\n"));
}

TEST_CASE("an answer of another version is an error and no crash") {
  DoctorAnswers answers = answers_for({});
  answers.doctor = "{}";
  CHECK_FALSE(doctor_text(answers));
  CHECK_FALSE(doctor_json(answers));
  answers.doctor = "no JSON";
  CHECK_FALSE(doctor_text(answers));
  CHECK_FALSE(is_enforced(answers, "A"));
}
