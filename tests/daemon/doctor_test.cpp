// The daemon tries its profiles' probes before it serves, and tells what it found.

#include <csignal>

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

// Null if the report has no such profile.
json profile_in(const json& report, const std::string& name) {
  for (const json& profile : report.at("profiles"))
    if (profile.at("name") == name) return profile;
  return nullptr;
}

constexpr const char* small_profile =
    "name = \"SMALL\"\n[limits]\nnofile = 50\n[cgroup]\nuse = \"never\"\n";

}  // namespace

TEST_CASE("every profile was probed before the daemon serves, and none is refused") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const json report = daemon.get("/v1/doctor").json();
  for (const char* name : {"OFF", "DEFAULT", "STRICT", "GO", "NODE", "JVM", "SEALED"}) {
    INFO(name);
    const json profile = profile_in(report, name);
    REQUIRE(profile.is_object());
    CHECK_FALSE(profile.at("probes").empty());
    for (const json& probe : profile.at("probes")) {
      INFO(probe.dump());
      CHECK(probe.at("verdict") != "failed");
    }
  }
  CHECK(daemon.health("profiles_refused") == 0);
  const std::string log = daemon.log();
  INFO(log);
  CHECK(log.find("cannot tell on this host, 0 of ") != std::string::npos);
}

TEST_CASE("a reload probes the profiles that are new, and forgets those that are gone") {
  const DaemonFixture daemon;
  CHECK(profile_in(daemon.get("/v1/doctor").json(), "SMALL").is_null());
  daemon.directory().write("profiles/small.toml", small_profile);
  CHECK(daemon.post("/v1/reload").status == 200);
  const json profile = profile_in(daemon.get("/v1/doctor").json(), "SMALL");
  REQUIRE(profile.is_object());
  CHECK(profile.at("enforced") == true);
  CHECK(profile.at("probes").at(0).at("name") == "nofile_holds");
  CHECK(profile.at("probes").at(0).at("verdict") == "passed");
}

TEST_CASE("a profile under which no probe can be tried is refused, and a later reload mends it") {
  const DaemonDirectory elsewhere;
  const std::string workdir = elsewhere.make_directory("work", 0755);
  const std::string profile = small_profile + std::string("[isolation]\nworkdir = \"") + workdir +
                              "\"\nuse_bubblewrap = false\n";
  if (!is_root()) return;  // only another uid is kept out of a directory that is there
  const std::string closed = elsewhere.make_directory("work/closed", 0700);
  const DaemonFixture daemon(
      {.profiles = {{"small.toml", small_profile + std::string("[isolation]\nworkdir = \"") +
                                       closed + "\"\nuse_bubblewrap = false\n"}}});
  CHECK(daemon.health("profiles_refused") == 1);
  const HttpReply reply =
      daemon.post("/v1/runs", {{"profile", "SMALL"}, {"argv", {"true"}}, {"allow_degraded", true}});
  CHECK(reply.status == 501);
  CHECK(reply.error_code() == "sandbox_not_available");
  CHECK(reply.error_message().find("could not be probed") != std::string::npos);
  CHECK(daemon.log().find("refusing every run: profile 'SMALL'") != std::string::npos);
  CHECK(daemon.run({{"profile", "OFF"}, {"argv", {"true"}}})["result"]["exit_code"] == 0);

  daemon.directory().write("profiles/small.toml", profile);
  CHECK(daemon.post("/v1/reload").status == 200);
  CHECK(daemon.health("profiles_refused") == 0);
  CHECK(daemon.run({{"profile", "SMALL"}, {"argv", {"true"}}})["result"]["exit_code"] == 0);
}

TEST_CASE("the doctor has each language with its version, or with what to install") {
  if (!sandbox_works()) return;
  const DaemonDirectory more;
  more.make_directory("runtimes", 0755);
  more.write("runtimes/none.toml",
             "name = \"none\"\nsource = \"m\"\ninstall = \"make it\"\n"
             "[run]\ncommand = [\"none\"]\n[version]\ncommand = [\"no-such-program\"]\n");
  const DaemonFixture daemon({.config = "runtimes = [\"" + more.path("runtimes") + "\"]\n"});
  std::map<std::string, json> languages;
  const json report = daemon.get("/v1/doctor").json();
  for (const json& language : report.at("languages"))
    languages[language.at("name").get<std::string>()] = language;
  CHECK(languages.at("python").at("there") == true);
  CHECK(languages.at("python").at("version").get<std::string>().starts_with("3."));
  CHECK(languages.contains("cpp"));
  CHECK(languages.at("none").at("there") == false);
  CHECK(languages.at("none").at("fix") == "make it");
  CHECK(daemon.get("/v1/runs").json()["runs"].empty());
}
