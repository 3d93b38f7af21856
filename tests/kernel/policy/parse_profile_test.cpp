#include "kernel/policy/load.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

// What is wrong with a profile, as an operator sees it.
std::vector<std::string> profile_mistakes(std::string_view text) {
  std::vector<Diagnostic> diagnostics;
  const auto profile = parse_profile(text, "p.toml", diagnostics);
  CHECK(profile.has_value() == diagnostics.empty());
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : diagnostics) lines.push_back(to_string(diagnostic));
  return lines;
}

Profile parsed_profile(std::string_view text) {
  std::vector<Diagnostic> diagnostics;
  const auto profile = parse_profile(text, "p.toml", diagnostics);
  for (const Diagnostic& diagnostic : diagnostics) UNSCOPED_INFO(to_string(diagnostic));
  REQUIRE(profile);
  return *profile;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a profile has every key where the operator wrote it") {
  const Profile profile = parsed_profile(R"(
name = "MINE"
description = "a test"
[limits]
cpu_seconds = "2m"
memory_bytes = "1.5GiB"
fsize_bytes = 4096
nproc = 5
nofile = 6
core_size = 0
wall_seconds = 1.5
grace_seconds = "250ms"
output_bytes = "1KiB"
output_stop_bytes = "1MiB"
[cgroup]
use = "required"
memory_max = "1GiB"
pids_max = 7
cpu_max = 2
[isolation]
use_bubblewrap = true
deny_network = true
bind_ro = ["/usr"]
bind_rw = []
workdir = "/tmp"
tmp_bytes = "1MiB"
workspace_bytes = "2MiB"
new_session = false
seccomp = "default"
own_host_uid = true
[landlock]
use = "required"
abi = 3
[environment]
allow = ["LANG"]
set = {TZ = "UTC"}
[requests]
bind_ro = ["/srv/data"]
bind_rw = ["/srv/work"]
network = true
)");
  Profile expected;
  expected.name = "MINE";
  expected.description = "a test";
  expected.source = "p.toml";
  expected.limits = {120, 1'610'612'736, 4096, 5, 6, 0};
  expected.wall_clock = 1500ms;
  expected.grace = 250ms;
  expected.output_bytes = 1024;
  expected.output_stop_bytes = 1u << 20;
  expected.cgroup = {CgroupUse::required, 1u << 30, 7, 2.0};
  expected.use_bubblewrap = true;
  expected.deny_network = true;
  expected.bind_ro = {"/usr"};
  expected.workdir = "/tmp";
  expected.tmp_bytes = 1u << 20;
  expected.workspace_bytes = 2u << 20;
  expected.new_session = false;
  expected.seccomp = SeccompUse::default_list;
  expected.own_host_uid = true;
  expected.landlock = {LandlockUse::required, 3};
  expected.allow_environment = {"LANG"};
  expected.environment = {{"TZ", "UTC"}};
  expected.requests = {{"/srv/data"}, {"/srv/work"}, true};
  CHECK(profile == expected);
}

TEST_CASE("a Landlock that cannot be had from any kernel, or has no effect, is a mistake") {
  CHECK(profile_mistakes(R"(name = "A"
[landlock]
use = "always"
abi = 0
)") == Lines{"p.toml:3:7: use is 'always'; known are 'never', 'if_supported', 'required'",
             "p.toml:4:7: abi is 0, at least 1; leave it out for the default",
             "p.toml:4:7: abi has no effect with use = \"never\""});
  CHECK(profile_mistakes(R"(name = "A"
[landlock]
use = "required"
abi = 7
)") == Lines{"p.toml:4:7: abi is 7; known are 1 to 6"});
}

TEST_CASE("a profile of a name alone has no limits") {
  Profile expected;
  expected.name = "A";
  expected.source = "p.toml";
  CHECK(parsed_profile("name = \"A\"") == expected);
}

TEST_CASE("all profile_mistakes of a file come at once, ordered by place") {
  CHECK(profile_mistakes(R"(name = "A B"
[limits]
memroy_bytes = "512MiB"
nproc = 0
nofile = "many"
wall_seconds = -1
[isolation]
deny_network = true
seccomp = "strickt"
)") == Lines{
           "p.toml:1:8: name 'A B' is not of the form [A-Za-z0-9_-]{1,64}",
           "p.toml:3:1: unknown key 'memroy_bytes' in [limits]; did you mean 'memory_bytes'?",
           "p.toml:4:9: nproc is 0, at least 1; leave it out for the default",
           "p.toml:5:10: nofile must be an integer, not a string",
           "p.toml:6:16: wall_seconds is -1 seconds, at least 0.001 and at most 366 days",
           "p.toml:8:16: deny_network needs use_bubblewrap = true",
           "p.toml:9:11: seccomp is 'strickt'; known are 'off', 'default', 'strict'",
       });
}

TEST_CASE("an unknown key or table names the nearest known one, or where it belongs") {
  CHECK(profile_mistakes("name = \"A\"\n[limit]\nnproc = 1\n") ==
        Lines{"p.toml:2:2: unknown table 'limit' at the top level; did you mean 'limits'?"});
  CHECK(profile_mistakes("name = \"A\"\nnproc = 1\n") ==
        Lines{"p.toml:2:1: unknown key 'nproc' at the top level; it belongs in [limits]"});
  CHECK(profile_mistakes("name = \"A\"\n[cgroup]\ncolour = 1\n") ==
        Lines{"p.toml:3:1: unknown key 'colour' in [cgroup]; known are 'use', 'memory_max', "
              "'pids_max', 'cpu_max'"});
  CHECK(profile_mistakes("name = \"A\"\nlimits = 3\n") ==
        Lines{"p.toml:2:10: limits must be a table, not an integer"});
  CHECK(profile_mistakes("name = \"A\"\n[[limits]]\nnproc = 1\n") ==
        Lines{"p.toml:2:1: limits must be a table, not a list"});
}

TEST_CASE("a value of the wrong type says which type is wanted") {
  const auto one = [](std::string_view line) {
    const Lines lines = profile_mistakes("name = \"A\"\n" + std::string(line));
    REQUIRE(lines.size() == 1);
    return lines.front();
  };
  CHECK(one("description = 3") == "p.toml:2:15: description must be a string, not an integer");
  CHECK(one("limits.memory_bytes = true") ==
        "p.toml:2:23: memory_bytes must be a size such as 4096 or \"512MiB\", not a boolean");
  CHECK(one("limits.memory_bytes = \"512M\"") ==
        "p.toml:2:23: memory_bytes: size '512M' has an unknown unit; use B, KiB, MiB, GiB, TiB, "
        "kB, MB, GB or TB");
  CHECK(one("limits.memory_bytes = 1.5") ==
        "p.toml:2:23: memory_bytes must be a size such as 4096 or \"512MiB\", not a fraction");
  CHECK(one("limits.memory_bytes = \"0\"") ==
        "p.toml:2:23: memory_bytes is 0, at least 1; leave it out for the default");
  CHECK(one("limits.cpu_seconds = 1.5") ==
        "p.toml:2:22: cpu_seconds must be whole seconds: the kernel counts it so");
  CHECK(one("limits.wall_seconds = [1]") ==
        "p.toml:2:23: wall_seconds must be a time such as 30, 1.5 or \"1.5s\", not a list");
  CHECK(one("limits.wall_seconds = nan").find("wall_seconds is nan seconds") != std::string::npos);
  CHECK(one("limits.wall_seconds = inf").find("wall_seconds is inf seconds") != std::string::npos);
  CHECK(one("cgroup.cpu_max = \"1\"") == "p.toml:2:18: cpu_max must be a number, not a string");
  CHECK(one("cgroup.use = \"maybe\"") ==
        "p.toml:2:14: use is 'maybe'; known are 'never', 'if_delegated', 'required'");
  CHECK(one("isolation.use_bubblewrap = \"yes\"") ==
        "p.toml:2:28: use_bubblewrap must be true or false, not a string");
  CHECK(one("environment.allow = \"LANG\"") ==
        "p.toml:2:21: allow must be a list of strings, not a string");
  CHECK(one("environment.allow = [\"LANG\", 3]") ==
        "p.toml:2:30: allow[1] must be a string, not an integer");
  CHECK(one("environment.set = {A = 1}") == "p.toml:2:24: set.A must be a string, not an integer");
  CHECK(one("environment.set = [\"A=1\"]") ==
        "p.toml:2:19: set must be a table of strings, {NAME = \"value\"}, not a list");
  CHECK(one("environment.set = {A = \"\\u0000\"}") ==
        "p.toml:2:24: set.A contains a NUL character");
  CHECK(one("description = \"a\\nb\"") == "p.toml:2:15: description must be a single line of text");
}

TEST_CASE("binds are judged one by one, at their own place") {
  CHECK(profile_mistakes(R"(name = "A"
[isolation]
use_bubblewrap = true
bind_ro = [
  "/usr",
  "usr",
  "/nope",
  "/etc/ssl",
]
bind_rw = ["/usr"]
)") == Lines{
           "p.toml:5:3: bind_ro '/usr' is in bind_rw too",
           "p.toml:6:3: bind_ro 'usr' is not absolute",
           "p.toml:7:3: bind_ro '/nope' does not exist",
           "p.toml:8:3: bind_ro '/etc/ssl' is inside '/etc', which every sandbox has its own of",
           "p.toml:10:12: bind_rw '/usr' would let the run change programs of the host in '/usr'",
       });
}

TEST_CASE("what only bubblewrap enforces is refused without it") {
  CHECK(profile_mistakes(R"(name = "A"
[isolation]
bind_ro = ["/usr"]
tmp_bytes = "1MiB"
workspace_bytes = "1MiB"
[requests]
bind_ro = ["/srv"]
)") == Lines{
           "p.toml:3:11: bind_ro needs use_bubblewrap = true",
           "p.toml:4:13: tmp_bytes needs use_bubblewrap = true",
           "p.toml:5:19: workspace_bytes needs use_bubblewrap = true",
           "p.toml:7:11: bind_ro in [requests] needs use_bubblewrap = true",
       });
}

TEST_CASE("the environment may not hold loader-hijack names, nor patterns") {
  const Lines lines = profile_mistakes(R"(name = "A"
[environment]
allow = ["LANG", "LD_PRELOAD", "LC_*", ""]
set = {TZ = "UTC", BASH_ENV = "/x"}
)");
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].find("p.toml:3:18: allow names 'LD_PRELOAD', by which code") == 0);
  CHECK(lines[1] == "p.toml:3:32: allow has 'LC_*': patterns are not supported, write each name");
  CHECK(lines[2] == "p.toml:3:40: allow has an empty name");
  CHECK(lines[3].find("p.toml:4:31: environment names 'BASH_ENV', by which code") == 0);
}

TEST_CASE("a grant that could never be used is a mistake; a wide one is not") {
  CHECK(profile_mistakes(R"(name = "A"
isolation.use_bubblewrap = true
[requests]
bind_ro = ["/", "/home", "srv", "/srv/../etc"]
bind_rw = ["/etc/paddock", "/run/user/1000"]
)") == Lines{
           "p.toml:4:26: bind_ro 'srv' is not absolute",
           "p.toml:4:33: bind_ro '/srv/../etc' contains '..'",
           "p.toml:5:12: bind_rw '/etc/paddock' grants nothing: no path at or below it may be "
           "bound",
           "p.toml:5:28: bind_rw '/run/user/1000' grants nothing: no path at or below it may be "
           "bound",
       });
}

TEST_CASE("a limit that would have no effect or no end is refused") {
  CHECK(profile_mistakes("name = \"A\"\n[cgroup]\nuse = \"never\"\npids_max = 3\n") ==
        Lines{"p.toml:4:12: pids_max has no effect with use = \"never\""});
  CHECK(profile_mistakes("name = \"A\"\n[limits]\nmemory_bytes = \"18446744073709551615\"\n") ==
        Lines{"p.toml:3:16: memory_bytes is 18446744073709551615, at most 9223372036854775807"});
  CHECK(profile_mistakes("name = \"A\"\n[limits]\ngrace_seconds = \"2h\"\n") ==
        Lines{"p.toml:3:17: grace_seconds is above 3600s"});
}

TEST_CASE("a missing name is a mistake of the file's first line") {
  CHECK(profile_mistakes("") == Lines{"p.toml:1:1: name is missing"});
}

TEST_CASE("a text that is not TOML is one mistake with its place") {
  const Lines unclosed = profile_mistakes("name = \"A\"\n[limits\nnproc = 1\n");
  REQUIRE(unclosed.size() == 1);
  CHECK(unclosed[0].find("p.toml:2:") == 0);
  const Lines twice = profile_mistakes("name = \"A\"\nname = \"B\"\n");
  REQUIRE(twice.size() == 1);
  CHECK(twice[0].find("p.toml:2:") == 0);
  const Lines not_utf8 = profile_mistakes("name = \"\xff\"\n");
  REQUIRE(not_utf8.size() == 1);
  CHECK(not_utf8[0].find("p.toml:1:") == 0);
  const Lines nul = profile_mistakes("name = \"A\"\n\0x = 1\n"s);
  REQUIRE(nul.size() == 1);
  CHECK(nul[0].find("p.toml:2:") == 0);
  CHECK(profile_mistakes("name = \"A\"\nlimits.nproc = 99999999999999999999\n").size() == 1);
}

// Goal: nesting that would overflow the stack is a mistake, whatever way it is written.
TEST_CASE("nesting without end is a mistake, not a crash") {
  CHECK(profile_mistakes("a = " + std::string(100'000, '[')).size() == 1);
  std::string dotted;
  for (int i = 0; i < 300'000; ++i) dotted += "a.";
  const Lines expected{"p.toml:1:1: more dotted keys than a profile can need"};
  CHECK(profile_mistakes(dotted + "a = 1") == expected);
  CHECK(profile_mistakes("[" + dotted + "a]") == expected);
  CHECK(profile_mistakes("a = {" + dotted + "a = 1}") == expected);
  CHECK(profile_mistakes("\"a#\"." + dotted + "a = 1") == expected);
  CHECK(profile_mistakes("'\"'." + dotted + "a = 1") == expected);
  CHECK(profile_mistakes("\"\\\"\"." + dotted + "a = 1") == expected);
}

TEST_CASE("dots in text and comments are not counted") {
  const std::string dots(5000, '.');
  CHECK(
      parsed_profile("name = \"A\" # " + dots + "\ndescription = \"" + dots + "\"\n").description ==
      dots);
  CHECK(parsed_profile("name = \"A\"\ndescription = '" + dots + "'\n").description == dots);
  CHECK(parsed_profile("name = \"A\"\nenvironment.set.A = \"\"\"\n" + dots + "\\\"\"\"\"\n")
            .environment.at("A") == dots + "\"");
}

TEST_CASE("a message stays on its line, whatever the file says") {
  CHECK(
      profile_mistakes("name = \"A\"\n\"a\\nb\" = 1\n") ==
      Lines{
          "p.toml:2:1: unknown key 'a\\x0ab' at the top level; known are 'name', "
          "'description', 'cgroup', 'environment', 'isolation', 'landlock', 'limits', 'requests'"});
}
