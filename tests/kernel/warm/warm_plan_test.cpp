#include "kernel/warm/warm_plan.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "kernel/confine/bubblewrap.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/plan_text.hpp"
#include "support/sample_host.hpp"

using namespace paddock::kernel;

namespace {

using Words = std::vector<std::string>;

const RunIdentity identity{
    .name = "z-0123456789abcdef", .host_uid = 60'600, .workspace = "", .cwd = ""};
const ZygoteProgram python{.interpreter = {"python3", "-I"},
                           .modules = {"json", "os.path"},
                           .programs = {"print(1)", "a\nb"}};

// With each limit that a profile can have.
SandboxPolicy limited_policy() {
  SandboxPolicy policy;
  policy.profile = "STRICT";
  policy.use_bubblewrap = true;
  policy.deny_network = true;
  policy.bind_ro = {"/usr", "/opt/models"};
  policy.cpu_seconds = 120;
  policy.memory_bytes = 512u << 20;
  policy.fsize_bytes = 1u << 20;
  policy.nproc = 64;
  policy.nofile = 256;
  policy.output_stop_bytes = 1u << 20;
  policy.wall_clock = std::chrono::seconds(5);
  policy.seccomp = SeccompUse::strict;
  policy.landlock.use = LandlockUse::required;
  policy.tmp_bytes = 3u << 20;
  policy.workspace_bytes = 5u << 20;
  policy.environment = {{"TOKEN", "of-one-run"}};
  return policy;
}

Plan zygote_plan(const SandboxPolicy& policy = limited_policy()) {
  return make_zygote_plan(policy, python, "ELF bytes", merged_host(), identity).value();
}

Plan cold_plan(const SandboxPolicy& policy = limited_policy()) {
  return make_plan(policy, {"python3", "-I", "-c", "pass"}, merged_host(), identity).value();
}

ZygoteLine ready_line() {
  ZygoteLine line;
  line.program = "/usr/bin/python3.11";
  line.devices = {{"/dev/pts", 11}, {"/proc", 12}};
  line.session_keyring = 7;
  for (const char* name : namespace_names) line.namespaces[name] = std::string(name) + ":[7]";
  return line;
}

bool has(const Words& arguments, const Words& words) {
  return std::search(arguments.begin(), arguments.end(), words.begin(), words.end()) !=
         arguments.end();
}

}  // namespace

TEST_CASE("a zygote has the sandbox of its policy and nothing of its limits") {
  const Plan plan = zygote_plan();
  CHECK(plan.launch.filter.empty());
  CHECK(plan.launch.landlock.handled_file == 0);
  CHECK(plan.launch.landlock.scoped == 0);
  CHECK_FALSE(plan.launch.user_namespaces_closed);
  CHECK_FALSE(plan.wall_clock);
  CHECK_FALSE(plan.output_stop_bytes);
  CHECK(plan.cgroup_leaf.empty());
  for (const Rlimit& limit : plan.launch.rlimits)
    CHECK((limit.resource == RLIMIT_CORE || limit.resource == RLIMIT_NICE ||
           limit.resource == RLIMIT_RTPRIO));
  CHECK(plan.launch.host_uid == 60'600);
  CHECK(plan.new_namespaces == Words{"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"});
}

TEST_CASE("a zygote knows no variable of a run") {
  for (const std::string& variable : zygote_plan().launch.environment)
    CHECK(variable.find("of-one-run") == std::string::npos);
}

TEST_CASE("a zygote's plan wants each mount read-only, and none over a file of /proc") {
  const Plan plan = zygote_plan();
  CHECK_FALSE(plan.mounts.empty());
  for (const Mount& mount : plan.mounts) {
    INFO(mount.path);
    CHECK_FALSE(mount.writable);
    CHECK_FALSE(mount.path.starts_with("/proc/"));
  }
  CHECK(has(plan.bubblewrap, {"--ro-bind", "/opt/models", "/opt/models"}));
}

TEST_CASE("a zygote's interpreter loads the library that bubblewrap puts there, read-only") {
  const Plan plan = zygote_plan();
  const Words& words = plan.bubblewrap;
  const auto at = std::find(words.begin(), words.end(), "/run/paddock-warm.so");
  REQUIRE(at != words.end());
  const int fd = std::stoi(*(at - 1));
  CHECK(plan.files.at(fd) == "ELF bytes");
  CHECK(Words(at - 4, at - 1) == Words{"--perms", "0444", "--file"});
  CHECK(Words(words.end() - 2, words.end()) == Words{"--remount-ro", "/"});
  const Words& argv = plan.launch.argv;
  REQUIRE(argv.size() == 5);
  CHECK(Words(argv.begin(), argv.begin() + 3) == Words{"python3", "-I", "-c"});
  CHECK(argv.back() == "/run/paddock-warm.so");
}

TEST_CASE("a zygote reads its modules, a line each, and its programs, after a NUL each") {
  CHECK(input_of_zygote(python) == std::string("json\nos.path\n\0print(1)\0a\nb", 26));
  CHECK(input_of_zygote({.interpreter = {"python3"}, .modules = {}, .programs = {}}).empty());
}

TEST_CASE("a warm run's plan is that of the cold run but for what starts it") {
  Plan warm = cold_plan();
  make_warm(limited_policy(), merged_host(), ready_line(), warm);
  CHECK(warm.role == "fork");
  CHECK(warm.program_at_gate == "/usr/bin/python3.11");
  auto namespaces = ready_line().namespaces;
  namespaces.erase("net");  // shared until somebody asks for a socket
  CHECK(warm.not_namespaces == namespaces);
  CHECK(warm.launch.watch_sockets);
  CHECK(warm.not_devices == ready_line().devices);
  CHECK(warm.not_session_keyring == 7);
  Plan other = cold_plan();
  other.role = warm.role;
  other.bubblewrap.clear();
  other.files.clear();
  other.launch.wrapper.clear();
  other.launch.mounts = warm.launch.mounts;
  other.program_at_gate = warm.program_at_gate;
  other.not_namespaces = warm.not_namespaces;
  other.not_devices = warm.not_devices;
  other.not_session_keyring = warm.not_session_keyring;
  other.launch.watch_sockets = warm.launch.watch_sockets;
  CHECK(warm == other);
}

TEST_CASE("a program that the zygote has is named, and its text stays out of what a fork reads") {
  ZygoteLine line = ready_line();
  line.programs = {"import os", "print(1)", "pass"};
  const auto fork_of = [&](const Words& argv) {
    Plan plan = make_plan(limited_policy(), argv, merged_host(), identity).value();
    make_warm(limited_policy(), merged_host(), line, plan);
    return plan.launch;
  };
  const LaunchSpec known = fork_of({"python3", "-I", "-c", "print(1)", "print(1)"});
  CHECK(known.prepared_program == 2);
  CHECK(known.argv == Words{"python3", "-I", "-c", "", "print(1)"});

  const LaunchSpec other = fork_of({"python3", "-I", "-c", "print(2)", "pass"});
  CHECK(other.prepared_program == 0);
  CHECK(other.argv == Words{"python3", "-I", "-c", "print(2)", "pass"});
}

TEST_CASE("a warm run mounts what bubblewrap mounts for the cold one, with the same limits") {
  Plan warm = cold_plan();
  make_warm(limited_policy(), merged_host(), ready_line(), warm);
  std::string text;
  for (const FreshMount& mount : warm.launch.mounts)
    text += mount.type + " " + mount.target + " " + mount.options + "\n";
  check_golden("strict.warm-mounts", text);
  // Each mount that is planned writable is one of these; and each cover.
  for (const Mount& mount : warm.mounts) {
    const bool is_fresh =
        std::any_of(warm.launch.mounts.begin(), warm.launch.mounts.end(),
                    [&](const FreshMount& fresh) { return fresh.target == mount.path; });
    INFO(mount.path);
    if (mount.writable || mount.path.starts_with("/proc/")) CHECK(is_fresh);
  }
  // /proc before what lies over it.
  CHECK(warm.launch.mounts.front() == FreshMount{"proc", "/proc", ""});
}

TEST_CASE("a warm run may have no namespace of its zygote, least of all one that was not named") {
  Plan warm = cold_plan();
  ZygoteLine line = ready_line();
  line.namespaces.erase("mnt");
  make_warm(limited_policy(), merged_host(), line, warm);
  CHECK(warm.not_namespaces.at("mnt").empty());
  SandboxPolicy with_network = limited_policy();
  with_network.deny_network = false;
  Plan online = cold_plan(with_network);
  make_warm(with_network, merged_host(), ready_line(), online);
  CHECK_FALSE(online.not_namespaces.contains("net"));  // it is the host's, as the cold run's is
  CHECK(online.not_namespaces.size() == 6);
}

TEST_CASE(
    "a zygote's network is shared where a filter sees each call for a socket, until the first") {
  const auto warm_plan = [](const SandboxPolicy& policy, bool is_used) {
    ZygoteLine line = ready_line();
    line.network_is_used = is_used;
    Plan plan = cold_plan(policy);
    make_warm(policy, merged_host(), line, plan);
    return plan;
  };
  const Plan used = warm_plan(limited_policy(), true);
  CHECK_FALSE(used.launch.watch_sockets);
  CHECK(used.not_namespaces == ready_line().namespaces);
  SandboxPolicy without_filter = limited_policy();
  without_filter.seccomp = SeccompUse::off;
  const Plan unseen = warm_plan(without_filter, false);
  CHECK_FALSE(unseen.launch.watch_sockets);
  CHECK(unseen.not_namespaces.contains("net"));
  SandboxPolicy online = limited_policy();
  online.deny_network = false;
  CHECK_FALSE(warm_plan(online, false).launch.watch_sockets);
}
