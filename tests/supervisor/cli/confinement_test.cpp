// What the options of `paddock run` change, seen from inside.

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli_process.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace {

const char* const demanding_profile = R"(
name = "DEMANDING"
[cgroup]
use = "required"
memory_max = "64MiB"
[isolation]
use_bubblewrap = false
deny_network = false
)";

}  // namespace

TEST_CASE("a bind shows a directory of the host, and only that") {
  if (!sandbox_works()) return;
  const CliDirectory directory;
  directory.write("note", "from the host\n");
  const std::string note = directory.path() + "/note";
  CHECK(run_cli({"run", "--profile", "STRICT", "--", "cat", note}).exit_code == 2);
  const CliEnded shown =
      run_cli({"run", "--profile", "STRICT", "--bind-ro", directory.path(), "--", "cat", note});
  INFO(shown.err);
  CHECK(shown.out == "from the host\n");
  CHECK(run_cli({"run", "--profile", "STRICT", "--bind-ro", directory.path(), "--", "sh", "-c",
                 "echo x > " + directory.path() + "/new"})
            .exit_code == 2);
}

TEST_CASE("a writable bind can be written, and worked in") {
  if (!sandbox_works()) return;
  const CliDirectory directory;
  REQUIRE(::chmod(directory.path().c_str(), 0777) == 0);  // as root the run has another uid
  const CliEnded ended =
      run_cli({"run", "--profile", "STRICT", "--bind-rw", directory.path(), "--workdir",
               directory.path(), "--", "sh", "-c", "pwd; echo x > new"});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == directory.path() + "\n");
  CHECK(::access((directory.path() + "/new").c_str(), F_OK) == 0);
}

TEST_CASE("a relative bind is meant from here") {
  if (!sandbox_works()) return;
  const CliDirectory directory;
  const std::string note = directory.write("note", "x\n");
  const CliEnded ended =
      run_cli({"run", "--profile", "STRICT", "--bind-ro", ".", "--", "cat", note},
              {.directory = directory.path()});
  INFO(ended.err);
  CHECK(ended.out == "x\n");
}

TEST_CASE("the network is there only if it was asked for") {
  if (!sandbox_works()) return;
  const auto namespaces = [](const Words& options) {
    Words words = {"run", "--json", "--profile", "STRICT"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "true"});
    return nlohmann::json::parse(run_cli(words).out).at("confinement").at("namespaces").dump();
  };
  CHECK(contains(namespaces({}), "net"));
  CHECK_FALSE(contains(namespaces({"--network"}), "net"));
}

TEST_CASE("variables come from --env and --allow-env and from nowhere else") {
  const CliEnded ended =
      run_cli({"run", "--profile", "OFF", "--env", "A=1=2", "--allow-env", "B", "--", "env"},
              {.environment = {{"B", "two"}, {"C", "three"}}});
  CHECK(contains(ended.out, "A=1=2\n"));
  CHECK(contains(ended.out, "B=two\n"));
  CHECK_FALSE(contains(ended.out, "C="));
  const CliEnded hijack =
      run_cli({"run", "--profile", "OFF", "--env", "LD_PRELOAD=x.so", "--", "true"});
  CHECK(hijack.exit_code == 1);
  CHECK(contains(hijack.err, "LD_PRELOAD"));
}

TEST_CASE("a limit can be tightened and not loosened") {
  const CliEnded tighter = run_cli(
      {"run", "--json", "--memory-mb", "512", "--max-procs", "9", "--cpu", "7", "--", "true"});
  const auto rlimits = nlohmann::json::parse(tighter.out).at("confinement").at("rlimits");
  CHECK(rlimits.at("memory_bytes") == "536870912");
  CHECK(rlimits.at("nproc") == "9");
  CHECK(rlimits.at("cpu_seconds") == "7");
  const CliEnded looser = run_cli({"run", "--wall", "1h", "--", "true"});
  CHECK(looser.exit_code == 1);
  CHECK(contains(looser.err, "above the 900s that profile 'DEFAULT' allows"));
}

TEST_CASE("without a sandbox a run starts where its user is, if it can go there") {
  const CliDirectory directory;
  const CliEnded open =
      run_cli({"run", "--profile", "OFF", "--", "pwd"}, {.directory = directory.path()});
  CHECK(open.out == directory.path() + "\n");
  CHECK(open.err.empty());

  REQUIRE(::chmod(directory.path().c_str(), 0700) == 0);
  const CliEnded closed =
      run_cli({"run", "--profile", "OFF", "--", "pwd"}, {.directory = directory.path()});
  CHECK(closed.exit_code == 0);
  if (::geteuid() == 0) {
    CHECK(closed.out != directory.path() + "\n");
    CHECK(contains(closed.err, directory.path() + " is not accessible to the run's user"));
  } else {
    CHECK(closed.out == directory.path() + "\n");
  }
  CHECK(run_cli({"run", "--profile", "OFF", "--workdir", "/usr", "--", "pwd"}).out == "/usr\n");
}

TEST_CASE("root's runs are never root's") {
  const CliEnded ended = run_cli({"run", "--profile", "OFF", "--", "id", "-u"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out != "0\n");
}

TEST_CASE("what the host cannot give is refused with 3, and nothing runs") {
  const CliDirectory directory;
  directory.write("demanding.toml", demanding_profile);
  const Words start = {"--cgroup-base", "none",      "--profiles", directory.path(),
                       "run",           "--profile", "DEMANDING"};
  Words refused = start;
  refused.insert(refused.end(), {"--", "echo", "ran"});
  const CliEnded ended = run_cli(refused);
  CHECK(ended.exit_code == 3);
  CHECK(ended.out.empty());
  CHECK(contains(ended.err, "NO-MEMORY-CEILING(cgroup)"));

  Words degraded = start;
  degraded.insert(degraded.end(), {"--allow-degraded", "--json", "--", "true"});
  const CliEnded allowed = run_cli(degraded);
  CHECK(allowed.exit_code == 0);
  CHECK(contains(nlohmann::json::parse(allowed.out).at("confinement").at("degraded").dump(),
                 "NO-MEMORY-CEILING(cgroup)"));

  const CliEnded base = run_cli({"--cgroup-base", "/usr/no-such-cgroup", "run", "--", "true"});
  CHECK(base.exit_code == 3);
}

TEST_CASE("an agent is its template's command under its template's profile") {
  if (!sandbox_works()) return;
  const CliEnded ended =
      run_cli({"run", "--agent", "shell", "--", "there"}, {.input = "echo \"hello $1\"; id -un"});
  INFO(ended.err);
  CHECK(ended.out == "hello there\nagent\n");
  const CliEnded record = run_cli({"run", "--agent", "python", "--json"}, {.input = "print(1)"});
  const auto run = nlohmann::json::parse(record.out);
  CHECK(run.at("agent") == "python");
  CHECK(run.at("profile") == "STRICT");
  CHECK(run.at("result").at("stdout") == "1\n");
}
