#include "supervisor/runtimes/versions.hpp"

#include "supervisor/runs/table_fixture.hpp"
#include "supervisor/runtimes/languages.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::tests;

namespace {

struct Versions {
  explicit Versions(TableFixture& table) : fixture(table) {}

  RuntimeVersion find(const Runtime& runtime) {
    std::optional<RuntimeVersion> found;
    versions.find(runtime, [&](const RuntimeVersion& version) { found = version; });
    fixture.run_until([&] { return found.has_value(); });
    return *found;
  }

  TableFixture& fixture;
  int asked = 0;
  bool refuses = false;
  RuntimeVersions versions{
      *fixture.table,
      [this](const Runtime&,
             const std::vector<std::string>& command) -> kernel::Result<ResolvedRun> {
        ++asked;
        if (refuses) return kernel::fail(kernel::ErrorCode::internal, "no");
        ResolvedRun run;
        run.argv = command;
        return run;
      }};
};

Runtime runtime_with(std::vector<std::string> command) {
  Runtime runtime;
  runtime.name = "x";
  runtime.version = std::move(command);
  return runtime;
}

}  // namespace

TEST_CASE("a version is the first number in what a program prints") {
  CHECK(version_in("Python 3.11.2\n") == "3.11.2");
  CHECK(version_in("v20.20.2") == "20.20.2");
  CHECK(version_in("12") == "12");
  CHECK(version_in("GNU bash, version 5.2.15(1)-release") == "5.2.15");
  CHECK(version_in("ends in 3.") == "3");
  CHECK(version_in("none").empty());
  CHECK(version_in("").empty());
}

TEST_CASE("a version selector matches as Piston's clients mean it") {
  struct Row {
    const char* selector;
    bool matches;
  };
  const Row rows[] = {{"*", true},       {"x", true},       {"3", true},       {"3.x", true},
                      {"3.11", true},    {"3.11.2", true},  {"=3.11.2", true}, {"v3", true},
                      {"^3.10", true},   {"~3.11.1", true}, {">=3", true},     {"3.11.*", true},
                      {"2", false},      {"3.1", false},    {"3.11.3", false}, {"3.11.2.1", false},
                      {"^3.12", false},  {"~3.10", false},  {">=3.12", false}, {"", false},
                      {"latest", false}, {"^2", false}};
  for (const Row& row : rows) {
    INFO(row.selector);
    CHECK(version_matches(row.selector, "3.11.2") == row.matches);
    CHECK(version_matches(row.selector, ""));
  }
}

TEST_CASE("a runtime is asked for its version once, until it changes") {
  TableFixture fixture;
  Versions versions(fixture);
  const Runtime runtime = runtime_with({"/bin/sh", "-c", "echo x 1.2.3"});
  CHECK(versions.find(runtime) == RuntimeVersion{.is_there = true, .version = "1.2.3"});
  CHECK(versions.find(runtime).version == "1.2.3");
  CHECK(versions.asked == 1);
  CHECK(versions.find(runtime_with({"/bin/sh", "-c", "echo 2 >&2"})).version == "2");
  CHECK(versions.asked == 2);
}

TEST_CASE("those who ask meanwhile wait for the same answer") {
  TableFixture fixture;
  Versions versions(fixture);
  const Runtime runtime = runtime_with({"/bin/sh", "-c", "echo 7"});
  int answers = 0;
  for (int i = 0; i < 3; ++i)
    versions.versions.find(runtime, [&](const RuntimeVersion& version) {
      CHECK(version.version == "7");
      ++answers;
    });
  fixture.run_until([&] { return answers == 3; });
  CHECK(versions.asked == 1);
}

TEST_CASE("a program that the host lacks is told from one that does not say") {
  TableFixture fixture;
  Versions versions(fixture);
  const RuntimeVersion missing = versions.find(runtime_with({"no-such-program", "--version"}));
  CHECK_FALSE(missing.is_there);
  CHECK(missing.why.find("No such file") != std::string::npos);
  CHECK(versions.find(runtime_with({"/bin/false"})) == RuntimeVersion{});
  CHECK(versions.find(runtime_with({})) == RuntimeVersion{});
  CHECK(versions.asked == 2);
}

TEST_CASE("what could not be asked is asked again") {
  TableFixture fixture;
  Versions versions(fixture);
  versions.refuses = true;
  const Runtime runtime = runtime_with({"/bin/sh", "-c", "echo 7"});
  CHECK(versions.find(runtime) == RuntimeVersion{});
  versions.refuses = false;
  CHECK(versions.find(runtime).version == "7");
}

TEST_CASE("languages stand by name, with a version or with what to install") {
  TableFixture fixture;
  Versions versions(fixture);
  Runtimes runtimes = {{"a", runtime_with({"/bin/sh", "-c", "echo 1.2"})},
                       {"b", runtime_with({"no-such-program", "--version"})},
                       {"c", runtime_with({"no-such-program"})},
                       {"d", runtime_with({})}};
  for (auto& [name, runtime] : runtimes) runtime.name = name;
  runtimes.at("c").install = "apt-get install c";
  std::vector<Language> found;
  find_languages(versions.versions, runtimes,
                 [&](std::vector<Language> languages) { found = std::move(languages); });
  fixture.run_until([&] { return !found.empty(); });
  REQUIRE(found.size() == 4);
  CHECK(found[0] == Language{.name = "a", .version = {.is_there = true, .version = "1.2"}});
  CHECK(found[1].name == "b");
  CHECK_FALSE(found[1].version.is_there);
  CHECK(found[1].fix == "install 'no-such-program' where a run finds it in its PATH");
  CHECK(found[2].fix == "apt-get install c");
  CHECK(found[3] == Language{.name = "d", .version = {}});
  bool has_none = false;
  find_languages(versions.versions, {},
                 [&](const std::vector<Language>& none) { has_none = none.empty(); });
  CHECK(has_none);
}

TEST_CASE("what was forgotten is asked again") {
  TableFixture fixture;
  Versions versions(fixture);
  const Runtime runtime = runtime_with({"/bin/sh", "-c", "echo 7"});
  versions.find(runtime);
  versions.versions.forget();
  CHECK(versions.find(runtime).version == "7");
  CHECK(versions.asked == 2);
}
