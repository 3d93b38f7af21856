#include "kernel/run/receipt.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "kernel/base/fd.hpp"
#include "kernel/confine/launcher.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

using Differences = std::vector<std::string>;

Plan planned() {
  Plan plan;
  plan.launch.rlimits = {{RLIMIT_CPU, 120},  {RLIMIT_AS, 1u << 20}, {RLIMIT_FSIZE, 4096},
                         {RLIMIT_NPROC, 16}, {RLIMIT_NOFILE, 256},  {RLIMIT_CORE, 0}};
  plan.bubblewrap = {"--unshare-user"};
  plan.new_namespaces = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};
  plan.launch.host_uid = 60'600;
  plan.mounts = {{"/", false, {}}, {"/tmp", true, 64u << 20}};
  plan.launch.filter = "12345678";
  plan.launch.landlock.handled_file = ~0u;
  plan.launch.landlock.scoped = landlock_scope_signal;
  plan.cgroup_leaf = "/paddock/run";
  plan.cgroup_knobs = {{"pids.max", "64"}};
  plan.launch.user_namespaces_closed = true;
  plan.program_at_gate = launcher_in_memory;
  return plan;
}

Receipt as_planned() {
  Receipt receipt;
  receipt.pid = 100;
  receipt.host_uid = 60'600;
  receipt.host_gid = 60'600;
  receipt.mounts = planned().mounts;
  receipt.filters = 1;
  receipt.descriptors = {0, 1, 2};
  receipt.landlock_seen = landlock_seen_file | landlock_seen_signal;
  receipt.cgroup = "/paddock/run";
  receipt.cgroup_knobs = {{"pids.max", "64"}};
  receipt.rlimits = {{"cpu_seconds", "120"}, {"memory_bytes", "1048576"}, {"fsize_bytes", "4096"},
                     {"nproc", "16"},        {"nofile", "256"},           {"core_size", "0"}};
  receipt.new_namespaces = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};
  receipt.no_new_privs = true;
  receipt.capabilities = "0000000000000000";
  receipt.bounding_set = "0000000000000000";
  receipt.leads_session = true;
  receipt.umask = "0022";
  receipt.signals_held_back = "0000000000000000";
  receipt.oom_score_adj = oom_score_adj;
  receipt.program = launcher_in_memory;
  receipt.self_seen = self_seen_no_user_namespace | self_seen_parent_death_signal;
  return receipt;
}

}  // namespace

TEST_CASE("a run that is confined as planned has no differences") {
  CHECK(compare(planned(), as_planned()).empty());
}

TEST_CASE("each limit that is not as planned is named, with both values") {
  for (const auto& [name, value] : as_planned().rlimits) {
    Receipt receipt = as_planned();
    receipt.rlimits[name] = "unlimited";
    CHECK(compare(planned(), receipt) == Differences{name + " is unlimited, planned " + value});
    receipt.rlimits[name] = value + "/unlimited";  // a soft limit that the agent could raise
    CHECK(compare(planned(), receipt) ==
          Differences{name + " is " + value + "/unlimited, planned " + value});
    receipt.rlimits.erase(name);
    CHECK(compare(planned(), receipt) == Differences{name + " is not seen, planned " + value});
  }
}

TEST_CASE("a namespace too few or too many is named") {
  Receipt receipt = as_planned();
  receipt.new_namespaces = {"cgroup", "ipc", "mnt", "pid", "user", "uts"};
  CHECK(compare(planned(), receipt) ==
        Differences{"the list of new namespaces is cgroup ipc mnt pid user uts, planned cgroup ipc "
                    "mnt net pid user uts"});
  Plan plan = planned();
  plan.new_namespaces = {};
  CHECK(compare(plan, receipt) ==
        Differences{"the list of new namespaces is cgroup ipc mnt pid user uts, planned "});
}

TEST_CASE("another host uid, a capability and missing no_new_privs are named") {
  Receipt receipt = as_planned();
  receipt.host_uid = 0;
  CHECK(compare(planned(), receipt) == Differences{"the host uid is 0, planned 60600"});

  receipt = as_planned();
  receipt.capabilities = "000001ffffffffff";
  CHECK(compare(planned(), receipt) ==
        Differences{"the set of capabilities is 000001ffffffffff, planned 0000000000000000"});

  receipt = as_planned();
  receipt.no_new_privs = false;
  CHECK(compare(planned(), receipt) == Differences{"no_new_privs is not set"});
}

TEST_CASE("a group of somebody else is named") {
  Receipt receipt = as_planned();
  receipt.host_gid = 0;
  receipt.groups = "0 27";
  CHECK(compare(planned(), receipt) ==
        Differences{"the host gid is 0, planned 60600", "the list of groups is 0 27, planned "});
}

TEST_CASE("a mount that is not as planned is named") {
  Receipt receipt = as_planned();
  receipt.mounts[0].writable = true;
  CHECK(compare(planned(), receipt) == Differences{"the mount is 'rw /', planned 'ro /'",
                                                   "'/' can be written, which is not planned"});
}

TEST_CASE("a missing system call filter is named, and so is one too many") {
  Receipt receipt = as_planned();
  receipt.filters = 0;
  CHECK(compare(planned(), receipt) ==
        Differences{"the number of system call filters is 0, planned 1"});
  Plan plan = planned();
  plan.launch.filter.clear();
  CHECK(compare(plan, as_planned()) ==
        Differences{"the number of system call filters is 1, planned 0"});
}

TEST_CASE("what Landlock should have refused and did not is named") {
  Receipt receipt = as_planned();
  receipt.landlock_seen = 0;
  CHECK(compare(planned(), receipt) ==
        Differences{"Landlock did not refuse to open a file that no rule allows",
                    "Landlock did not refuse a signal to a process outside"});
  // More refused than asked for: the supervisor itself is confined, which is no harm.
  Plan plan = planned();
  plan.launch.landlock = {};
  CHECK(compare(plan, as_planned()).empty());
}

TEST_CASE("a descriptor that the program would inherit is named") {
  Receipt receipt = as_planned();
  receipt.descriptors = {0, 1, 2, 7};
  CHECK(compare(planned(), receipt) ==
        Differences{"the list of inherited descriptors is 0 1 2 7, planned 0 1 2"});
}

TEST_CASE("another cgroup, and a knob that is not as planned, are named") {
  Receipt receipt = as_planned();
  receipt.cgroup = "/";
  receipt.cgroup_knobs = {{"pids.max", "max"}};
  CHECK(compare(planned(), receipt) ==
        Differences{"the cgroup is /, planned /paddock/run", "pids.max is max, planned 64"});
  receipt.cgroup_knobs = {};
  receipt.cgroup = "/paddock/run";
  CHECK(compare(planned(), receipt) == Differences{"pids.max is not seen, planned 64"});
}

TEST_CASE("what the program would inherit from its supervisor is named") {
  Receipt receipt = as_planned();
  receipt.leads_session = false;
  receipt.umask = "0000";
  receipt.signals_held_back = "0000000000004000";
  receipt.oom_score_adj = "-1000";
  receipt.shares_session_keyring = true;
  CHECK(compare(planned(), receipt) ==
        Differences{"the agent does not lead a session of its own",
                    "the umask is 0000, planned 0022",
                    "the set of blocked or ignored signals is 0000000000004000, planned "
                    "0000000000000000",
                    "oom_score_adj is -1000, planned 500",
                    "the agent has the supervisor's session keyring, or its zygote's"});
  Plan plan = planned();
  plan.launch.new_session = false;
  CHECK(compare(plan, as_planned()) == Differences{"the agent leads a session of its own"});
}

TEST_CASE("a program that has left the gate, and a launch chain that can be traced, are named") {
  Receipt receipt = as_planned();
  receipt.program = "/usr/bin/true";
  receipt.traceable = {"init", "guard"};
  receipt.self_seen = self_seen_no_user_namespace;
  CHECK(compare(planned(), receipt) ==
        Differences{"the agent's user can trace its init", "the agent's user can trace its guard",
                    "the agent has no parent-death signal",
                    "the program at the gate is /usr/bin/true, planned /memfd:paddock-launch "
                    "(deleted)"});
}

TEST_CASE("capabilities that could come back are named") {
  Receipt receipt = as_planned();
  receipt.bounding_set = "0000000000000001";
  receipt.self_seen = self_seen_parent_death_signal;
  CHECK(compare(planned(), receipt) ==
        Differences{"the bounding set of capabilities is 0000000000000001, planned "
                    "0000000000000000",
                    "the agent can make a user namespace"});
  // An ordinary user's run without any user namespace cannot empty the one and may make the other.
  Plan plan = planned();
  plan.launch.host_uid.reset();
  plan.bubblewrap.clear();
  plan.launch.user_namespaces_closed = false;
  plan.new_namespaces.clear();
  receipt.new_namespaces.clear();
  CHECK(compare(plan, receipt).empty());
}

TEST_CASE("a namespace of its zygote, and one that was not seen, are named") {
  Plan plan = planned();
  plan.not_namespaces = {{"ipc", "ipc:[11]"}, {"mnt", "mnt:[12]"}, {"pid", "pid:[13]"}};
  Receipt receipt = as_planned();
  receipt.namespaces = {{"ipc", "ipc:[21]"}, {"mnt", "mnt:[22]"}, {"pid", "pid:[23]"}};
  CHECK(compare(plan, receipt).empty());
  receipt.namespaces["mnt"] = "mnt:[12]";
  receipt.namespaces.erase("pid");
  CHECK(compare(plan, receipt) ==
        Differences{"the mnt namespace is the zygote's", "the pid namespace is the zygote's"});
}

TEST_CASE("a mount of its zygote, and one that was not seen, are named") {
  Plan plan = planned();
  plan.not_devices = {{"/dev/pts", 11}, {"/proc", 12}};
  Receipt receipt = as_planned();
  receipt.devices = {{"/dev/pts", 21}, {"/proc", 22}};
  CHECK(compare(plan, receipt).empty());
  receipt.devices = {{"/proc", 12}};
  CHECK(compare(plan, receipt) == Differences{"the mount at '/dev/pts' is the zygote's",
                                              "the mount at '/proc' is the zygote's"});
}

TEST_CASE("a warm run has the zygote's program at its gate, and no other") {
  Plan plan = planned();
  plan.program_at_gate = "/usr/bin/python3.11";
  Receipt receipt = as_planned();
  receipt.program = "/usr/bin/python3.11";
  CHECK(compare(plan, receipt).empty());
  receipt.program = launcher_in_memory;
  CHECK(compare(plan, receipt) ==
        Differences{"the program at the gate is /memfd:paddock-launch (deleted), planned "
                    "/usr/bin/python3.11"});
}

TEST_CASE("all differences are named at once") {
  Receipt receipt = as_planned();
  receipt.rlimits["nproc"] = "unlimited";
  receipt.no_new_privs = false;
  CHECK(compare(planned(), receipt) ==
        Differences{"nproc is unlimited, planned 16", "no_new_privs is not set"});
}

TEST_CASE("a limit that nobody planned may be anything") {
  Plan plan = planned();
  plan.launch.rlimits = {};
  Receipt receipt = as_planned();
  for (auto& [name, value] : receipt.rlimits) value = "unlimited";
  CHECK(compare(plan, receipt).empty());
}

TEST_CASE("a process is observed as it is") {
  // Method: a child that limits itself, looked at from outside.
  const auto ready = make_pipe();
  REQUIRE(ready);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit both{77, 77};
    const rlimit soft_only{1, RLIM_INFINITY};
    ::umask(027);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    std::signal(SIGUSR2, SIG_IGN);
    std::ofstream("/proc/self/oom_score_adj") << "7" << std::flush;
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    const bool done = ::setrlimit(RLIMIT_NOFILE, &both) == 0 &&
                      ::setrlimit(RLIMIT_CPU, &soft_only) == 0 &&
                      ::write(ready->write_end.get(), "x", 1) == 1;
    while (done) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  REQUIRE(::read(ready->read_end.get(), &byte, 1) == 1);
  const auto receipt = observe(child);
  REQUIRE(receipt);
  CHECK(receipt->pid == child);
  CHECK(receipt->program == std::filesystem::read_symlink("/proc/self/exe"));
  CHECK_FALSE(receipt->leads_session);
  CHECK(receipt->umask == "0027");
  CHECK(receipt->signals_held_back == "0000000000000a00");
  CHECK(receipt->oom_score_adj == "7");
  CHECK(is_traceable(child) == (::getuid() == 0));  // root may trace whom it likes
  CHECK(receipt->host_uid == ::getuid());
  CHECK(receipt->rlimits.size() == 8);
  CHECK(receipt->rlimits.at("nofile") == "77");
  CHECK(receipt->rlimits.at("cpu_seconds") == "1/unlimited");
  CHECK(receipt->new_namespaces.empty());
  CHECK_FALSE(receipt->no_new_privs);
  CHECK(receipt->capabilities.size() == 16);
  CHECK(receipt->filters == 0);
  CHECK_FALSE(receipt->mounts.empty());
  CHECK(std::is_sorted(receipt->descriptors.begin(), receipt->descriptors.end()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("a process that is gone cannot be observed") {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const auto receipt = observe(child);
  REQUIRE_FALSE(receipt);
  CHECK(receipt.error().code == ErrorCode::io);
}
