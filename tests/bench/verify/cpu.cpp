#include "bench/verify/cpu.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "kernel/base/process_tree.hpp"

namespace bench {
namespace {

using paddock::kernel::children_of;
using paddock::kernel::stat_of;

constexpr int tree_depth_max = 32;

std::uint64_t cpu_us_of_tree(pid_t pid, int depth) {
  const auto stat = stat_of(pid);
  if (!stat || depth > tree_depth_max) return 0;
  // What a process has used passes to its parent when that waits for it, so nothing is lost on the
  // way.
  std::uint64_t sum = stat->own_cpu_us + stat->children_cpu_us;
  for (const pid_t child : children_of(pid)) sum += cpu_us_of_tree(child, depth + 1);
  return sum;
}

std::uint64_t used_us(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto us = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

}  // namespace

std::uint64_t tree_cpu_us(pid_t pid) {
  return cpu_us_of_tree(pid, 0);
}

std::uint64_t own_cpu_us(pid_t pid) {
  const auto stat = stat_of(pid);
  return stat ? stat->own_cpu_us : 0;
}

std::uint64_t client_cpu_us() {
  return used_us(RUSAGE_SELF);
}

std::uint64_t waited_children_cpu_us() {
  return used_us(RUSAGE_CHILDREN);
}

std::uint64_t used_between(std::uint64_t before_us, std::uint64_t after_us) {
  return after_us > before_us ? after_us - before_us : 0;
}

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void reap_children_except(const std::vector<pid_t>& known) {
  constexpr int attempts = 1000;
  constexpr std::chrono::milliseconds pause{1};
  for (const pid_t child : children_of(::getpid())) {
    if (std::find(known.begin(), known.end(), child) != known.end()) continue;
    for (int i = 0; i < attempts && ::waitpid(child, nullptr, WNOHANG) == 0; ++i)
      std::this_thread::sleep_for(pause);
  }
}

std::uint64_t resident_bytes(pid_t pid) {
  const auto stat = stat_of(pid);
  return stat ? stat->resident_bytes : 0;
}

}  // namespace bench
