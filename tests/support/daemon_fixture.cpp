#include "support/daemon_fixture.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <thread>

#include "kernel/base/process_tree.hpp"
#include "kernel/confine/host.hpp"

using nlohmann::json;
using paddock::kernel::children_of;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

// Empty if it is not there, or no longer.
std::string read_whole(const std::string& path) {
  return paddock::kernel::read_file(path, 64u << 20).value_or("");
}

// The daemons that are running now: children of this process that are no survivors.
std::set<pid_t>& living_daemons() {
  static std::set<pid_t> pids;
  return pids;
}

struct Streams {
  std::string standard_output;
  std::string standard_error;
};

// Starts paddockd with its streams in files.
pid_t spawn_daemon(const std::vector<std::string>& arguments,
                   const std::vector<std::pair<std::string, std::string>>& environment,
                   const std::function<void()>& in_child, const Streams& streams) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const std::string program = program_path("paddockd");
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid > 0) {
    living_daemons().insert(pid);
    return pid;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // a test that crashes leaves no daemon
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  constexpr int flags = O_WRONLY | O_CREAT | O_APPEND;
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(::open(streams.standard_output.c_str(), flags, 0600), 1);
  ::dup2(::open(streams.standard_error.c_str(), flags, 0600), 2);
  if (in_child) in_child();
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

// nullopt while the process is still there.
std::optional<Ended> reap(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  living_daemons().erase(pid);
  if (WIFEXITED(status)) return Ended{.exit_status = WEXITSTATUS(status)};
  return Ended{.signal = WTERMSIG(status)};
}

std::optional<Ended> reap_within(pid_t pid, milliseconds limit) {
  std::optional<Ended> ended;
  eventually([&] { return (ended = reap(pid)).has_value(); }, limit);
  return ended;
}

// What a daemon left behind came to this process.
std::vector<pid_t> survivors() {
  std::vector<pid_t> alive;
  for (const pid_t child : children_of(::getpid())) {
    if (living_daemons().contains(child)) continue;
    if (::waitpid(child, nullptr, WNOHANG) == 0) alive.push_back(child);
  }
  return alive;
}

// Reaping one generation brings the next: twice nobody is nobody.
bool all_gone_within(milliseconds limit) {
  return eventually([] { return survivors().empty() && survivors().empty(); }, limit);
}

}  // namespace

// ---- Files -------------------------------------------------------------------------------------

DaemonDirectory::DaemonDirectory() {
  std::string pattern = "/var/tmp/paddock-d-XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  REQUIRE(::chmod(pattern.c_str(), 0711) == 0);
  path_ = pattern;
}

DaemonDirectory::~DaemonDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string DaemonDirectory::make_directory(const std::string& name, unsigned mode) const {
  std::filesystem::create_directories(path(name));
  REQUIRE(::chmod(path(name).c_str(), mode) == 0);
  return path(name);
}

std::string DaemonDirectory::write(const std::string& name, std::string_view text,
                                   unsigned mode) const {
  std::ofstream(path(name), std::ios::binary | std::ios::trunc) << text;
  REQUIRE(::chmod(path(name).c_str(), mode) == 0);
  return path(name);
}

std::string program_path(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

// ---- The daemon --------------------------------------------------------------------------------

DaemonFixture::DaemonFixture(DaemonOptions options) {
  runtime_directory_ = options.runtime_directory;
  if (runtime_directory_.empty()) runtime_directory_ = directory_.make_directory("run");
  std::vector<std::string>& arguments = arguments_;
  arguments = {"--runtime-dir", runtime_directory_, "--state-dir", directory_.path("state")};
  const auto add_catalog = [&](const std::string& kind,
                               const std::map<std::string, std::string>& files) {
    const std::string own = directory_.make_directory(kind, 0755);
    for (const auto& [name, text] : files) directory_.write(kind + "/" + name, text);
    arguments.insert(arguments.end(), {"--" + kind, own});
  };
  add_catalog("profiles", options.profiles);
  add_catalog("agents", options.agents);
  add_catalog("runtimes", options.runtimes);
  if (!options.config.empty()) {
    directory_.write("paddockd.toml", options.config);
    arguments.insert(arguments.end(), {"--config", directory_.path("paddockd.toml")});
  }
  // A daemon that is SIGKILLed leaves the workspaces of its runs; here they go with the fixture.
  options.environment.emplace_back("TMPDIR", directory_.make_directory("tmp", 0711));
  options_ = std::move(options);
  start_again();
}

void DaemonFixture::start_again() {
  if (const auto ended = try_to_start_again())
    FAIL("the daemon ended with status " << ended->exit_status << ", signal " << ended->signal
                                         << ": " << log());
}

std::optional<Ended> DaemonFixture::try_to_start_again() {
  REQUIRE(pid_ < 0);
  pid_ = spawn_daemon(arguments_, options_.environment, options_.in_child,
                      {directory_.path("stdout"), directory_.path("log")});
  return wait_until_healthy();
}

DaemonFixture::~DaemonFixture() {
  stop();
  const bool failing = std::uncaught_exceptions() > 0;
  if (!all_gone_within(seconds(5))) {
    for (const pid_t child : survivors()) {
      UNSCOPED_INFO("survivor: " << child << " "
                                 << read_whole("/proc/" + std::to_string(child) + "/cmdline"));
      paddock::kernel::kill_tree(child);
    }
    FAIL_CHECK("a process survived the daemon");
  }
  if (failing) std::cerr << "-- the daemon's log:\n" << log() << "--\n";
}

std::string DaemonFixture::log() const {
  return read_whole(directory_.path("log"));
}

std::optional<Ended> DaemonFixture::wait_until_healthy() {
  const auto is_healthy = [&] {
    try {
      return http(socket(), "GET", "/health").status == 200;
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  std::optional<Ended> ended;
  const auto settled = [&] { return (ended = reap(pid_)).has_value() || is_healthy(); };
  const bool is_settled = eventually(settled, seconds(20));
  if (ended) pid_ = -1;
  if (is_settled) return ended;
  const std::string text = log();
  stop();
  FAIL("the daemon did not start: " << text);
  return std::nullopt;
}

void DaemonFixture::stop() {
  if (pid_ < 0) return;
  const bool has_runs = health("runs_alive") != 0 || health("runs_queued") != 0;
  ::kill(pid_, SIGTERM);
  if (has_runs) {  // the second signal is for them
    eventually([&] { return health("status") == "draining"; }, seconds(5));
    ::kill(pid_, SIGTERM);
  }
  const auto ended = reap_within(pid_, seconds(10));
  if (!ended) {
    ::kill(pid_, SIGKILL);
    reap_within(pid_, seconds(5));
    FAIL_CHECK("the daemon did not stop: " << log());
  } else if (ended->exit_status != 0) {
    FAIL_CHECK("the daemon ended with status " << ended->exit_status << ", signal " << ended->signal
                                               << ": " << log());
  }
  pid_ = -1;
}

json DaemonFixture::health(const std::string& key) const {
  try {
    return get("/health").json()[key];
  } catch (const std::exception&) {
    return 0;  // it does not answer
  }
}

void DaemonFixture::signal(int number) const {
  REQUIRE(::kill(pid_, number) == 0);
}

Ended DaemonFixture::wait_for_end(milliseconds limit) {
  const auto ended = reap_within(pid_, limit);
  if (!ended) FAIL("the daemon is still there: " << log());
  pid_ = -1;
  return *ended;
}

json DaemonFixture::run(const json& request) const {
  const HttpReply reply = post("/v1/runs", request);
  INFO(reply.body.substr(0, 2000));
  REQUIRE(reply.status == 200);
  return reply.json();
}

json DaemonFixture::verify(const json& request) const {
  const HttpReply reply = http(trainer_socket(), "POST", "/v1/verify", request);
  INFO(reply.body.substr(0, 1000));
  REQUIRE(reply.status == 200);
  return reply.json();
}

std::string DaemonFixture::start(json request) const {
  request["detach"] = true;
  const HttpReply reply = post("/v1/runs", request);
  INFO(reply.body);
  REQUIRE(reply.status == 202);
  return reply.json()["id"];
}

json DaemonFixture::finished(const std::string& id) const {
  return get("/v1/runs/" + id + "?wait_seconds=20").json();
}

void DaemonFixture::wait_until_started(const std::string& id) const {
  REQUIRE(eventually([&] { return get("/v1/runs/" + id).json().contains("confinement"); }));
}

DaemonAttempt try_daemon(const std::vector<std::string>& arguments,
                         const std::vector<std::pair<std::string, std::string>>& environment) {
  const DaemonDirectory directory;
  const Streams streams{directory.path("stdout"), directory.path("stderr")};
  const pid_t pid = spawn_daemon(arguments, environment, {}, streams);
  const auto ended = reap_within(pid, seconds(20));
  if (!ended) {
    ::kill(pid, SIGKILL);
    reap_within(pid, seconds(5));
  }
  CHECK(all_gone_within(seconds(5)));
  const DaemonAttempt attempt{ended.value_or(Ended{}), read_whole(streams.standard_output),
                              read_whole(streams.standard_error)};
  INFO(attempt.standard_error);
  REQUIRE(ended);
  return attempt;
}

// ---- Processes and time ------------------------------------------------------------------------

std::string unique_marker() {
  static int count = 0;
  return "marker-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-" +
         std::to_string(steady_clock::now().time_since_epoch().count());
}

std::vector<pid_t> processes_with(const std::string& marker) {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read_whole(entry.path() / "cmdline").find(marker) != std::string::npos)
      pids.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return pids;
}

bool eventually(const std::function<bool()>& condition, milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  while (!condition()) {
    if (steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

std::string marked_sleeper(const std::string& marker) {
  return "sh -c 'sleep 300; :' " + marker;  // the last command keeps sh from becoming sleep
}

json shell(const std::string& script, const std::string& profile) {
  return {{"profile", profile}, {"argv", {"/bin/sh", "-c", script}}};
}

// ---- What this machine can do ------------------------------------------------------------------

bool sandbox_works() {
  static const paddock::kernel::HostFacts host = paddock::kernel::detect_host();
  if (!host.bubblewrap.empty() && host.user_namespaces) return true;
  const std::string reason =
      host.user_namespaces ? host.bubblewrap_problem : host.user_namespaces_problem;
  std::cout << "UNSUPPORTED: " << reason << "\n";
  const char* must_work = std::getenv("SANDBOX_MUST_WORK");
  if (must_work != nullptr && std::string_view(must_work) == "1")
    FAIL("sandboxes must work here, and: " << reason);
  return false;
}

bool is_root() {
  if (::geteuid() == 0) return true;
  std::cout << "UNSUPPORTED: only root gives runs host uids of their own\n";
  return false;
}
