// The commands that look and start nothing, or no more than `true`.

#include <nlohmann/json.hpp>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

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

TEST_CASE("doctor tells what this host can give, by trying") {
  if (!sandbox_works()) return;
  const CliDirectory directory;
  directory.write("demanding.toml",
                  "name = \"DEMANDING\"\n[cgroup]\nuse = \"required\"\npids_max = 9\n"
                  "[isolation]\nuse_bubblewrap = false\ndeny_network = false\n");
  const CliEnded text = run_cli({"doctor"});
  INFO(text.out << text.err);
  CHECK(text.exit_code == 0);
  CHECK(contains(text.out, "bubblewrap"));
  CHECK(contains(text.out, "  STRICT   yes"));

  const CliEnded alone = run_cli({"--cgroup-base", "none", "doctor", "--profile", "OFF"});
  CHECK(contains(alone.out,
                 "none is used: limits hold for each process, not for a run as a whole\n"));

  const CliEnded refused = run_cli({"--cgroup-base", "none", "--profiles", directory.path(),
                                    "doctor", "--profile", "DEMANDING", "--json"});
  CHECK(refused.exit_code == 3);
  bool seen = false;
  const auto found = nlohmann::json::parse(refused.out);
  for (const auto& profile : found.at("profiles")) {
    if (profile.at("name") != "DEMANDING") continue;
    seen = true;
    CHECK(profile.at("available") == false);
    CHECK(contains(profile.at("problem"), "NO-PIDS-CEILING(cgroup)"));
  }
  CHECK(seen);
  CHECK(run_cli({"doctor", "--profile", "NOPE"}).exit_code == 1);
}
