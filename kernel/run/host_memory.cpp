#include "kernel/run/host_memory.hpp"

#include <utility>

#include "kernel/confine/cgroup_files.hpp"

namespace paddock::kernel {
namespace {

using std::chrono::steady_clock;

std::uint64_t kills_in(const std::string& counters) {
  return counter_in(cgroup_words(counters), "oom_kill");
}

}  // namespace

HostMemory::HostMemory(std::string counters)
    : counters_(std::move(counters)), kills_(kills_in(counters_)) {}

bool HostMemory::may_have_killed_since(steady_clock::time_point since) {
  const std::uint64_t kills = kills_in(counters_);
  if (std::exchange(kills_, kills) < kills) seen_at_ = steady_clock::now();
  return seen_at_ && *seen_at_ >= since;
}

}  // namespace paddock::kernel
