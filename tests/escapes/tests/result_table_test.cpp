#include "escapes/runner/result_table.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock::escapes;

namespace {

const Columns columns{{"DEFAULT", "STRICT"}, 12};
const Judgement succeeded{Verdict::open, "", ""};

std::vector<AttemptResult> sample() {
  return {
      {"fs_read",
       "files",
       succeeded,
       {{Verdict::open, "", "it sees files"}, {Verdict::stopped, "ENOENT", ""}}},
      {"fs_write",
       "files",
       succeeded,
       {{Verdict::open, "", "it sees files"}, {Verdict::failed, "", "it succeeded"}}},
      {"net_old", "network", {Verdict::unsupported, "ENOSYS", "no such call"}, {}},
  };
}

}  // namespace

TEST_CASE("the table has a line for each attempt, aligned, without trailing blanks") {
  CHECK(heading(columns) == "  attempt       unconfined      DEFAULT                  STRICT\n");
  CHECK(line_of(sample()[0], columns) ==
        "  fs_read       succeeded       open                     stopped ENOENT\n");
  CHECK(line_of(sample()[1], columns) ==
        "  fs_write      succeeded       open                     FAILED\n");
  CHECK(line_of(sample()[2], columns) ==
        "  net_old       unsupported     -                        -\n");
}

TEST_CASE("what is open, unsupported or failed is listed by its reason") {
  CHECK(explanations(sample(), columns) ==
        "\nOpen by design under DEFAULT:\n"
        "  it sees files:\n"
        "    fs_read fs_write\n"
        "\nUnsupported here, so nothing is proved about:\n"
        "  no such call:\n"
        "    net_old\n"
        "\nFAILED:\n"
        "  STRICT: it succeeded:\n"
        "    fs_write\n");
}

TEST_CASE("an unsupported attempt is counted as such for every profile, never as stopped") {
  CHECK(tally(sample(), 0) == Tally{0, 2, 1, 0});
  CHECK(tally(sample(), 1) == Tally{1, 0, 1, 1});
  CHECK(summary(sample(), columns) ==
        "\nDEFAULT  3 attempts: 0 stopped, 2 open by design, 1 unsupported, 0 FAILED\n"
        "STRICT   3 attempts: 1 stopped, 0 open by design, 1 unsupported, 1 FAILED\n");
}

TEST_CASE("one failed attempt or control fails the whole") {
  std::vector<AttemptResult> results = sample();
  CHECK(any_failed(results));
  results.erase(results.begin() + 1);
  CHECK_FALSE(any_failed(results));
  results[0].control = {Verdict::failed, "", "no report"};
  CHECK(any_failed(results));
  CHECK(line_of(results[0], columns).find("CONTROL FAILED") != std::string::npos);
}

TEST_CASE("the results are JSON too") {
  const auto document = nlohmann::json::parse(to_json(sample(), columns));
  CHECK(document["failed"] == true);
  CHECK(document["attempts"][0]["unconfined"]["verdict"] == "succeeded");
  CHECK(document["attempts"][0]["profiles"]["STRICT"]["word"] == "ENOENT");
  CHECK(document["attempts"][1]["profiles"]["STRICT"]["verdict"] == "failed");
  CHECK(document["attempts"][2]["profiles"].empty());
  CHECK(document["summary"]["STRICT"]["unsupported"] == 1);
}
