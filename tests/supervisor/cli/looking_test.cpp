// The commands that look and start nothing, or no more than `true`.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cli_process.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace {}  // namespace

TEST_CASE("profiles can be listed and shown, and what is shown is a profile") {
  const CliEnded list = run_cli({"profile", "list"});
  CHECK(list.exit_code == 0);
  for (const char* name : {"OFF", "DEFAULT", "STRICT"}) CHECK(contains(list.out, name));
  CHECK(nlohmann::json::parse(run_cli({"profile", "list", "--json"}).out).at("profiles").size() >=
        3);

  const CliEnded show = run_cli({"profile", "show", "STRICT"});
  CHECK(show.exit_code == 0);
  CHECK(contains(show.out, "strict.toml"));
  CHECK(contains(show.out, "memory_bytes      = \"512MiB\""));
  const CliDirectory directory;
  const CliEnded check = run_cli({"profile", "check", directory.write("copy.toml", show.out)});
  INFO(check.out);
  CHECK(check.out == "ok\n");
}

TEST_CASE("every shipped profile that is shown can be read back") {
  const CliDirectory directory;
  for (const char* name : {"OFF", "DEFAULT", "STRICT", "NODE", "JVM"}) {
    const CliEnded show = run_cli({"profile", "show", name});
    const CliEnded check = run_cli({"profile", "check", directory.write("copy.toml", show.out)});
    INFO(show.out << check.out);
    CHECK(check.exit_code == 0);
  }
}

TEST_CASE("check names every mistake with its place") {
  const CliDirectory directory;
  const std::string file = directory.write("bad.toml",
                                           "name = \"BAD\"\n"
                                           "[limits]\n"
                                           "memory_byte = 1\n"
                                           "nproc = 0\n");
  for (const std::string& path : {file, directory.path()}) {
    const CliEnded ended = run_cli({"profile", "check", path});
    CHECK(ended.exit_code == 1);
    INFO(ended.out);
    CHECK(contains(ended.out, file + ":3:"));
    CHECK(contains(ended.out, "memory_bytes"));  // the nearest name
    CHECK(contains(ended.out, file + ":4:"));
  }
  CHECK(run_cli({"profile", "check", directory.path() + "/absent"}).exit_code == 1);
  CHECK(run_cli({"profile", "check"}).out == "ok\n");
  CHECK(run_cli({"--profiles", directory.path(), "profile", "check"}).exit_code == 1);
}

TEST_CASE("a run under a catalog with a mistake says where it is") {
  const CliDirectory directory;
  const std::string file = directory.write("bad.toml", "name = \"BAD\"\nlimit = 1\n");
  const CliEnded ended = run_cli({"--profiles", directory.path(), "run", "--", "true"});
  CHECK(ended.exit_code == 1);
  CHECK(contains(ended.err, "paddock: " + file + ":2:"));
}

TEST_CASE("policy prints the exact confinement") {
  if (!sandbox_works()) return;
  const CliEnded ended = run_cli({"policy", "--profile", "STRICT", "--wall", "10"});
  CHECK(ended.exit_code == 0);
  INFO(ended.out);
  for (const char* line :
       {"profile = \"STRICT\"\n", "wall_seconds = 10s\n", "memory_bytes  536870912\n",
        "cgroup ipc mnt net pid user uts\n", "HOME=/home/agent\n", "--unshare-net\n",
        "--cap-drop ALL\n", "--ro-bind /usr /usr\n", "--disable-userns\n"})
    CHECK(contains(ended.out, line));
  CHECK(run_cli({"policy", "--profile", "STRICT", "--wall", "10"}).out == ended.out);
  CHECK(contains(run_cli({"policy", "--profile", "OFF"}).out, "bubblewrap: not used"));
}

TEST_CASE("with --dry-run the plan is printed and nothing started") {
  const CliEnded ended =
      run_cli({"run", "--dry-run", "--profile", "OFF", "--", "sh", "-c", "echo ran"});
  CHECK(ended.exit_code == 0);
  const auto plan = nlohmann::json::parse(ended.out);
  CHECK(plan.at("argv") == nlohmann::json({"sh", "-c", "echo ran"}));
  CHECK(plan.at("policy_hash").get<std::string>().size() == 64);
}

TEST_CASE("doctor tries what each profile forbids, and says what is missing and how to mend it") {
  if (!sandbox_works()) return;
  const CliDirectory directory;
  directory.write("demanding.toml",
                  "name = \"DEMANDING\"\n[cgroup]\nuse = \"required\"\npids_max = 9\n"
                  "[isolation]\nuse_bubblewrap = false\ndeny_network = false\n");
  directory.write("modest.toml",
                  "name = \"MODEST\"\n[limits]\nnofile = 100\nnproc = 20\n"
                  "[cgroup]\nuse = \"never\"\n"
                  "[isolation]\nuse_bubblewrap = true\ndeny_network = true\n"
                  "bind_ro = [\"/usr\"]\n");
  const Words common = {"--cgroup-base", "none", "--profiles", directory.path(), "doctor"};
  const auto doctor = [&](const Words& more) {
    Words words = common;
    words.insert(words.end(), more.begin(), more.end());
    return run_cli(words);
  };
  const CliEnded text = doctor({});
  INFO(text.out << text.err);
  CHECK(text.exit_code == 3);  // STRICT asks for a cgroup
  CHECK(contains(text.out, "\n  STRICT     runs, without NO-MEMORY-CEILING(cgroup), "));
  CHECK(contains(text.out, "\n  MODEST     yes\n"));
  CHECK(contains(text.out,
                 "\n  DEMANDING  no, it requires what is missing: NO-PIDS-CEILING(cgroup)\n"));
  CHECK(contains(text.out, "cgroup_not_delegated: "));
  CHECK(contains(text.out, "mend: "));
  CHECK_FALSE(contains(text.out, "got through"));
  CHECK(contains(text.out, "\n  python  3."));
  CHECK(
      contains(text.out, "none is used: limits hold for each process, not for a run as a whole\n"));
  CHECK(doctor({"--profile", "MODEST"}).exit_code == 0);
  CHECK(doctor({"--profile", "DEMANDING"}).exit_code == 3);
  const CliEnded unknown = doctor({"--profile", "MODES"});
  CHECK(unknown.exit_code == 1);
  CHECK(contains(unknown.err, "did you mean 'MODEST'?"));
}

TEST_CASE("doctor's JSON has each profile's probes with their answers, and the findings") {
  if (!sandbox_works()) return;
  const CliEnded ended = run_cli({"--cgroup-base", "none", "doctor", "--json", "-p", "OFF"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  const auto json = nlohmann::json::parse(ended.out);
  CHECK(json.at("daemon").is_null());
  CHECK(json.at("host").at("user_namespaces") == true);
  const auto& findings = json.at("findings");
  const auto cgroup = std::find_if(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.at("name") == "cgroup_not_delegated";
  });
  REQUIRE(cgroup != findings.end());
  CHECK(cgroup->at("severity") == "blocks");  // SEALED requires it
  CHECK_FALSE(cgroup->at("profiles").empty());
  bool seen = false;
  for (const auto& profile : json.at("profiles")) {
    CHECK(profile.at("enforced") == (profile.at("name") == "OFF"));
    if (profile.at("name") != "STRICT") continue;
    CHECK(profile.at("refused") == "");
    CHECK(profile.at("missing").at(0).at("name") == "NO-MEMORY-CEILING(cgroup)");
    for (const auto& probe : profile.at("probes")) {
      CHECK(probe.at("verdict") != "failed");
      if (probe.at("name") != "network_is_unreachable") continue;
      seen = true;
      CHECK(probe.at("control") == "deny_network");
      CHECK(probe.at("verdict") == "passed");
      CHECK(probe.at("answer").get<std::string>().starts_with("refused "));
      CHECK(probe.at("unconfined") == "done");
    }
  }
  CHECK(seen);
}
