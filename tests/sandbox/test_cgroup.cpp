#include "sandbox/test_cgroup.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <vector>

#include "kernel/base/fd.hpp"
#include "kernel/confine/cgroup_files.hpp"
#include "kernel/confine/cgroup_paths.hpp"
#include "kernel/confine/cgroup_search.hpp"

namespace paddock::tests {

using namespace kernel;

namespace {

// Where tests can make cgroups: a directory, with what controllers its manager lets us have.
std::string place_for_tests() {
  for (const CgroupMount& mount :
       cgroup2_mounts(read_file("/proc/self/mountinfo", 16u << 20).value_or(""))) {
    if (::access(mount.where.c_str(), W_OK) != 0) continue;
    for (const char* controller : {"+memory", "+pids", "+cpu"})
      write_cgroup_file(mount.where + "/cgroup.subtree_control", controller);
    return mount.where;
  }
  static const CgroupSearch delegated = find_cgroup_base();
  return delegated.base ? delegated.base->path : "";
}

}  // namespace

TestCgroup::TestCgroup() {
  static int count = 0;
  const std::string place = place_for_tests();
  if (place.empty()) return;
  const std::string path =
      place + "/paddock-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
  if (::mkdir(path.c_str(), 0755) == 0) path_ = path;
}

TestCgroup::~TestCgroup() {
  if (!path_.empty()) remove_cgroup_tree(path_);
}

std::string TestCgroup::make(const std::string& name) const {
  REQUIRE(::mkdir((path_ + "/" + name).c_str(), 0755) == 0);
  return path_ + "/" + name;
}

bool TestCgroup::has_controllers() const {
  const std::string available =
      " " + one_line(read_file(path_ + "/cgroup.controllers", 4096).value_or("")) + " ";
  for (const char* controller : {" memory ", " pids ", " cpu "})
    if (available.find(controller) == std::string::npos) return false;
  return true;
}

bool TestCgroup::has_children() const {
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    if (entry.is_directory()) return true;
  return false;
}

TimedResult run_in(const TestCgroup& base, const SandboxPolicy& policy, const Argv& argv) {
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path()}).value();
  const auto begin = Clock::now();
  auto live = sandbox.start(policy, argv, "", "leaf", RunOptions{}).value();
  CHECK(std::filesystem::exists(base.path() + "/leaf"));
  drive_all({live.get()});
  TimedResult ended{live->take_result(), Clock::now() - begin};
  UNSCOPED_INFO("cause: " << ended.result.cause << "; detail: " << ended.result.detail);
  return ended;
}

std::vector<std::string> missing_of_cgroup(const SandboxResult& result) {
  std::vector<std::string> missing;
  for (const std::string& name : result.degraded)
    if (name.ends_with("(cgroup)")) missing.push_back(name);
  return missing;
}

void check_has_sealed(const kernel::SandboxResult& result) {
  CHECK(result.cause == kernel::Cause::exited);
  CHECK(result.exit_code == 0);
  CHECK(result.degraded.empty());
  REQUIRE(result.receipt);
  CHECK(result.receipt->cgroup_knobs.at("memory.max") == std::to_string(512u << 20));
  CHECK(result.receipt->cgroup_knobs.at("memory.swap.max") == "0");
  CHECK(result.receipt->cgroup_knobs.at("memory.oom.group") == "1");
  CHECK(result.receipt->cgroup_knobs.at("pids.max") == "64");
  CHECK(result.receipt->cgroup_knobs.at("cpu.max") == "100000 100000");
  CHECK(result.receipt->landlock_abi >= 1);
  CHECK(result.receipt->filters >= 1);
  CHECK(result.receipt->host_uid != 0);
}

std::string in_cgroup_as(const std::string& cgroup, uid_t uid,
                         const std::function<std::string()>& body) {
  Pipe answer = make_pipe().value();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string text = "cannot enter the cgroup or become the user";
    if (write_cgroup_file(cgroup + "/cgroup.procs", "0") == 0 && ::setresgid(uid, uid, uid) == 0 &&
        ::setresuid(uid, uid, uid) == 0)
      text = body();
    [[maybe_unused]] const ssize_t told = ::write(answer.write_end.get(), text.data(), text.size());
    ::_exit(0);
  }
  answer.write_end.close();
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(answer.read_end.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::waitpid(child, nullptr, 0);
  return text;
}

Inhabitant::Inhabitant(const std::string& cgroup) {
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0)
    for (;;) ::pause();
  REQUIRE(write_cgroup_file(cgroup + "/cgroup.procs", std::to_string(pid_)) == 0);
}

Inhabitant::~Inhabitant() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool Inhabitant::is_alive() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

void give_to(uid_t uid, const std::string& cgroup) {
  for (const char* file : {"", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control"})
    REQUIRE(::chown((cgroup + file).c_str(), uid, uid) == 0);
}

}  // namespace paddock::tests
