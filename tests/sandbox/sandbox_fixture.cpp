#include "sandbox/sandbox_fixture.hpp"

#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <sstream>
#include <thread>

#include "kernel/base/fd.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/policy/scratch_directory.hpp"
#include "kernel/run/run_sandboxed.hpp"

namespace paddock::tests {

using namespace kernel;
using std::chrono::milliseconds;

namespace {

std::string directory_of_this_executable() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

// The build tree may lie where a run's host uid cannot go, or below /tmp, of which each sandbox has
// its own: the programs are used from a copy.
const ScratchDirectory& program_directory() {
  static const ScratchDirectory directory;
  ScratchDirectory::set_mode(directory.path(), 0755);
  return directory;
}

const Catalog& shipped() {
  static const LoadResult loaded =
      load_catalog({directory_of_this_executable() + "/../share/paddock/profiles"}, {});
  for (const Diagnostic& mistake : loaded.diagnostics) UNSCOPED_INFO(to_string(mistake));
  REQUIRE(loaded.ok());
  return loaded.catalog;
}

}  // namespace

bool is_root() {
  return ::geteuid() == 0;
}

SandboxPolicy policy_of(const std::string& profile) {
  Request request;
  request.profile = profile;
  request.argv = {"true"};
  SandboxPolicy policy = resolve(shipped().profiles.at(profile), request).value();
  if (policy.use_bubblewrap) policy.bind_ro.push_back(program_directory().path());
  return policy;
}

std::string program(const std::string& name) {
  const std::string copy = program_directory().path() + "/" + name;
  if (!std::filesystem::exists(copy)) {
    std::filesystem::copy_file(directory_of_this_executable() + "/test-programs/" + name, copy);
    ScratchDirectory::set_mode(copy, 0755);
  }
  return copy;
}

std::string make_marker() {
  static int count = 0;
  return "marker-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-end";
}

std::vector<pid_t> processes_with(const std::string& marker) {
  std::vector<pid_t> found;
  DIR* proc = ::opendir("/proc");
  REQUIRE(proc != nullptr);
  while (const dirent* entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const auto command = read_file("/proc/" + std::to_string(pid) + "/cmdline", 1u << 20);
    if (command && command->find(marker) != std::string::npos) found.push_back(pid);
  }
  ::closedir(proc);
  return found;
}

bool soon(const std::function<bool()>& condition, milliseconds time) {
  const Clock::time_point deadline = Clock::now() + time;
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

SandboxResult run(const SandboxPolicy& policy, const Argv& argv, const RunInput& input) {
  // What run_sandboxed does, but with one look at the host for all runs.
  static const Sandbox sandbox = Sandbox::open({}).value();
  INFO("profile " << policy.profile);
  SandboxPolicy whole = policy;
  for (const auto& [name, value] : input.environment) whole.environment[name] = value;
  const auto checked = check_policy(whole);
  if (!checked) FAIL("the policy is refused: " << checked.error().message);
  RunOptions options;
  options.stdin_bytes = input.stdin_bytes;
  options.channel = input.channel;
  options.program = input.program_file;
  auto live = sandbox.start(whole, argv, input.cwd, "run", std::move(options));
  if (!live) FAIL("the run cannot be started: " << live.error().message);
  drive(**live);
  SandboxResult result = (*live)->take_result();
  UNSCOPED_INFO("detail: " << result.detail << "; stderr: " << result.stderr.substr(0, 2000));
  // Whatever the test is about: nothing is left of a run whose launcher was not attacked.
  CHECK_FALSE((result.survivors_unproved && result.cause != Cause::tampered));
  return result;
}

void drive_all(const std::vector<Run*>& runs, const std::function<void()>& look) {
  const auto finished = [](const Run* run) { return run->finished(); };
  while (!std::all_of(runs.begin(), runs.end(), finished)) {
    std::vector<pollfd> polled;
    for (const Run* run : runs) {
      if (run->finished()) continue;
      for (const Run::Watch& watch : run->watches()) polled.push_back({watch.fd, watch.events, 0});
    }
    ::poll(polled.data(), polled.size(), 1);
    for (Run* run : runs) {
      for (const pollfd& entry : polled)
        if (entry.revents != 0) run->on_ready(entry.fd);  // others' descriptors are ignored
      run->on_time();
    }
    look();
    for (Run* run : runs) run->release();
  }
}

std::map<std::string, std::string> values_in(const std::string& text) {
  std::map<std::string, std::string> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return values;
}

std::string one_line(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace paddock::tests
