#include "kernel/warm/zygote.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

using Words = std::vector<std::string>;

const ZygoteProgram json_zygote{
    .interpreter = {"python3", "-I"}, .modules = {"json"}, .programs = {}};
const Words fits = {"python3", "-I", "-c", "print(1)", "argument"};

SandboxPolicy strict_policy() {
  SandboxPolicy policy;
  policy.profile = "STRICT";
  policy.use_bubblewrap = true;
  policy.deny_network = true;
  policy.bind_ro = {"/usr"};
  return policy;
}

std::string why_cold_with(void (*change)(SandboxPolicy&)) {
  SandboxPolicy policy = strict_policy();
  change(policy);
  return why_cold(policy, fits, json_zygote);
}

std::string key_with(void (*change)(SandboxPolicy&)) {
  SandboxPolicy policy = strict_policy();
  change(policy);
  return zygote_key(policy, json_zygote);
}

}  // namespace

TEST_CASE("the interpreter with -c and code can be warm, with and without arguments") {
  CHECK(why_cold(strict_policy(), fits, json_zygote).empty());
  CHECK(why_cold(strict_policy(), {"python3", "-I", "-c", ""}, json_zygote).empty());
  CHECK(
      why_cold(strict_policy(), {"python3", "-I", "-c", "pass", "-c", "-I"}, json_zygote).empty());
}

TEST_CASE("any other command is cold, and the reason names what would not be") {
  for (const Words& argv :
       {Words{}, Words{"python3"}, Words{"python3", "-I"}, Words{"python3", "-I", "-c"},
        Words{"python3", "-c", "pass"}, Words{"python3", "-I", "-m", "pdb"},
        Words{"/usr/bin/python3", "-I", "-c", "pass"}, Words{"python3", "-I", "-S", "-c", "pass"},
        Words{"python3", "-I", "-cpass", "pass"}}) {
    INFO(argv.size() << " words");
    CHECK(why_cold(strict_policy(), argv, json_zygote) ==
          "the command is not 'python3 -I -c CODE'");
  }
}

TEST_CASE(
    "what an interpreter reads when it starts is a reason to be cold, unless it is as usual") {
  const auto why = [](const std::string& name, const std::string& value) {
    SandboxPolicy policy = strict_policy();
    policy.environment[name] = value;
    return why_cold(policy, fits, json_zygote);
  };
  CHECK(why("LANG", "en_US.ISO-8859-1") ==
        "its environment sets LANG, which an interpreter reads when it starts");
  for (const char* name : {"LC_ALL", "LC_CTYPE", "PYTHONHASHSEED"})
    CHECK_FALSE(why(name, "1").empty());
  CHECK(why("LANG", "C.UTF-8").empty());
  CHECK(why("TZ", "Asia/Tokyo").empty());
  CHECK(why("HOME", "/tmp").empty());
  CHECK(why("PATH", "/opt/bin") ==
        "its environment sets PATH, which an interpreter reads when it starts");
}

TEST_CASE("a home is read by an interpreter that looks there for modules of its user") {
  const auto why = [](const Words& interpreter, const std::string& home) {
    SandboxPolicy policy = strict_policy();
    policy.environment["HOME"] = home;
    Words argv = interpreter;
    argv.insert(argv.end(), {"-c", "pass"});
    return why_cold(policy, argv, {.interpreter = interpreter, .modules = {}, .programs = {}});
  };
  CHECK(why({"python3"}, "/tmp") ==
        "its environment sets HOME, which an interpreter reads when it starts");
  CHECK(why({"python3"}, "/home/agent").empty());
  CHECK(why({"python3", "-B", "-s"}, "/tmp").empty());
  CHECK(why({"python3", "-I"}, "/tmp").empty());
}

TEST_CASE("a limit of memory that a zygote takes a part of is a reason to be no fork of it") {
  ZygoteLine zygote;
  zygote.mapped_bytes = 24u << 20;
  SandboxPolicy policy = strict_policy();
  CHECK(why_not_fork(zygote, policy).empty());  // no limit
  policy.memory_bytes = 96u << 20;
  CHECK(why_not_fork(zygote, policy).empty());
  policy.memory_bytes = (96u << 20) - 1;
  CHECK(why_not_fork(zygote, policy) ==
        "its memory_bytes, 100663295B, are less than 4 times what its zygote has mapped, 24MiB");
  policy.memory_bytes = 4096;
  CHECK_FALSE(why_not_fork(zygote, policy).empty());
}

TEST_CASE("what a zygote cannot give its forks is a reason to be cold") {
  CHECK(why_cold_with([](SandboxPolicy& policy) { policy.use_bubblewrap = false; }) ==
        "the profile does not use bubblewrap");
  CHECK(why_cold_with([](SandboxPolicy& policy) { policy.bind_rw = {"/srv/work"}; }) ==
        "something is bound writable");
  CHECK(why_cold_with([](SandboxPolicy& policy) { policy.workspace = "/srv/kept"; }) ==
        "the workspace is one that stays");
  CHECK(why_cold_with([](SandboxPolicy& policy) { policy.bind_ro = {"/var/tmp/models"}; }) ==
        "something is bound below /var/tmp");
  CHECK(why_cold_with([](SandboxPolicy& policy) { policy.bind_ro = {"/var/lib/models"}; }).empty());
}

TEST_CASE("one zygote serves all policies that differ in what its forks set themselves") {
  const std::string key = zygote_key(strict_policy(), json_zygote);
  CHECK(key.size() == 64);
  CHECK(key_with([](SandboxPolicy& policy) { policy.cpu_seconds = 1; }) == key);
  CHECK(key_with([](SandboxPolicy& policy) { policy.memory_bytes = 1u << 30; }) == key);
  CHECK(key_with([](SandboxPolicy& policy) { policy.tmp_bytes = 4096; }) == key);
  CHECK(key_with([](SandboxPolicy& policy) { policy.workspace_bytes = 4096; }) == key);
  CHECK(key_with([](SandboxPolicy& policy) { policy.seccomp = SeccompUse::strict; }) == key);
  CHECK(key_with([](SandboxPolicy& policy) { policy.environment = {{"A", "b"}}; }) == key);
  CHECK(key_with([](SandboxPolicy& policy) { policy.workdir = "/tmp"; }) == key);
}

TEST_CASE("no zygote serves policies that differ in what it fixes") {
  const std::string key = zygote_key(strict_policy(), json_zygote);
  CHECK(key_with([](SandboxPolicy& policy) { policy.deny_network = false; }) != key);
  CHECK(key_with([](SandboxPolicy& policy) { policy.bind_ro = {"/usr", "/opt"}; }) != key);
  CHECK(key_with([](SandboxPolicy& policy) { policy.bind_ro = {}; }) != key);
}

TEST_CASE("no zygote serves two programs, however their words are put together") {
  const auto key_of = [](Words interpreter, Words modules, Words programs) {
    return zygote_key(strict_policy(),
                      {std::move(interpreter), std::move(modules), std::move(programs)});
  };
  const std::string key = key_of({"python3", "-I"}, {"json"}, {"p"});
  for (const std::string& other :
       {key_of({"python3"}, {"json"}, {"p"}), key_of({"python3-I"}, {"json"}, {"p"}),
        key_of({"python3", "-I"}, {}, {"p"}), key_of({"python3", "-I"}, {"json"}, {}),
        key_of({"python3", "-I"}, {"json", "p"}, {}), key_of({"python3", "-I"}, {"json"}, {"q"}),
        key_of({"python3", "-I"}, {"json"}, {"p", ""}),
        key_of({"python3", "-I", "json\n"}, {}, {"p"})})
    CHECK(other != key);
  CHECK(key_of({"python3", "-I"}, {"json"}, {"p"}) == key);
}
