// Cold STRICT `true` beside the same bubblewrap line by hand. Goal: at most 1.33x.
//
// Both sides start the same bwrap with the same arguments, mounts and files from the same process, in
// turns, so that what else the machine does hits both. The difference is paddock's own: guard, init,
// gate, receipt, pipes and the proof that nobody is left.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "bench/bench.hpp"
#include "kernel/base/fd.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "kernel/run/sandbox.hpp"

using namespace paddock;
using namespace paddock::kernel;

namespace {

SandboxPolicy strict_policy(const std::string& profiles) {
  const LoadResult loaded = load_catalog({profiles}, {});
  Request request;
  request.argv = {"/bin/true"};
  return resolve(loaded.catalog.profiles.at("STRICT"), request).value();
}

void run_by_hand(const Plan& plan, const std::string& bubblewrap) {
  std::map<int, Fd> contents;
  std::string arguments;
  for (const std::string& word : plan.bubblewrap) arguments += word + '\0';
  contents[fd_bubblewrap_args] = memory_file("args", arguments).value();
  for (const auto& [fd, bytes] : plan.files) contents[fd] = memory_file("file", bytes).value();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // Twice: a source may have the number that another one is to get.
  for (const auto& [fd, content] : contents)
    ::posix_spawn_file_actions_adddup2(&actions, content.get(), fd + 100);
  for (const auto& [fd, content] : contents)
    ::posix_spawn_file_actions_adddup2(&actions, fd + 100, fd);
  for (const auto& [fd, content] : contents)
    ::posix_spawn_file_actions_addclose(&actions, fd + 100);
  const std::string args_fd = std::to_string(fd_bubblewrap_args);
  const char* argv[] = {bubblewrap.c_str(), "--args", args_fd.c_str(), "--", "/bin/true", nullptr};
  char* environment[] = {nullptr};
  pid_t pid = -1;
  if (::posix_spawn(&pid, argv[0], &actions, nullptr, const_cast<char**>(argv), environment) != 0)
    std::exit(1);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) std::exit(1);
}

void run_by_paddock(const Sandbox& sandbox, const SandboxPolicy& policy) {
  auto run = sandbox.start(policy, {"/bin/true"}, "", "bench", {}).value();
  drive(*run);
  if (run->take_result().cause != Cause::exited) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 300;
  const SandboxPolicy policy = strict_policy(argc > 1 ? argv[1] : "build/release/share/paddock/profiles");
  const Sandbox sandbox = Sandbox::open({}).value();
  const Plan plan = sandbox.preview(policy, {"/bin/true"}, "").value();

  bench::Samples hand;
  bench::Samples paddock;
  for (int round = 0; round < rounds; ++round) {
    hand.time([&] { run_by_hand(plan, sandbox.host().bubblewrap); });
    paddock.time([&] { run_by_paddock(sandbox, policy); });
  }
  bench::print_pair("bwrap by hand", hand, "paddock STRICT", paddock);
  return 0;
}
