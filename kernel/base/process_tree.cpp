#include "kernel/base/process_tree.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <string>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {
namespace {

constexpr std::size_t proc_file_bytes_max = 4096;
constexpr std::size_t threads_looked_at_max = 1024;
constexpr int tree_depth_max = 64;

std::string proc_path(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

struct ThreadTimes {
  std::uint64_t on_cpu_us = 0;
  std::uint64_t waited_us = 0;  // ready to run, and without a CPU
};

// From schedstat, which is exact: many processes that each ran for less than a tick have none in
// their stat. Zeros where the kernel does not count it.
ThreadTimes times_of_thread(const std::string& task) {
  const auto text = read_file(task + "/schedstat", proc_file_bytes_max);
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t waited_ns = 0;
  if (!text || std::sscanf(text->c_str(), "%" SCNu64 " %" SCNu64, &on_cpu_ns, &waited_ns) != 2)
    return {};
  return {on_cpu_ns / 1000, waited_ns / 1000};
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  PidList children;
  append_children(pid, children);
  return {children.begin(), children.end()};
}

std::optional<ProcessStat> stat_of(pid_t pid) {
  const auto text = read_file(proc_path(pid, "stat"), proc_file_bytes_max);
  if (!text) return std::nullopt;
  // The second field is a name that may itself hold ") ".
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  ProcessStat stat;
  std::uint64_t ticks[4] = {};
  std::uint64_t resident_pages = 0;
  if (std::sscanf(text->c_str() + name_end + 1,
                  " %c %d %d %d %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64 " %*s %*s %*s %*s %" SCNu64 " %*s %" SCNu64,
                  &stat.state, &stat.parent, &stat.group, &stat.session, &ticks[0], &ticks[1],
                  &ticks[2], &ticks[3], &stat.start_ticks, &resident_pages) != 10)
    return std::nullopt;
  static const auto ticks_per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  stat.own_cpu_us = (ticks[0] + ticks[1]) * 1'000'000 / ticks_per_second;
  stat.children_cpu_us = (ticks[2] + ticks[3]) * 1'000'000 / ticks_per_second;
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  stat.resident_bytes = resident_pages * page_bytes;
  return stat;
}

bool is_in_tree(pid_t pid, pid_t root) {
  for (int depth = 0; depth < tree_depth_max && pid > 0; ++depth) {
    if (pid == root) return true;
    const auto stat = stat_of(pid);
    if (!stat) return false;
    pid = stat->parent;
  }
  return false;
}

std::optional<TreeCpu> cpu_of_tree(pid_t root) {
  TreeCpu cpu;
  std::size_t threads = 0;
  PidList pending;
  pending.push(root);
  while (pending.size() > 0) {
    const pid_t pid = pending.pop();
    append_children(pid, pending);
    if (pending.size() > threads_looked_at_max) return std::nullopt;
    std::uint64_t of_threads_us = 0;
    std::error_code gone;  // the process can end while it is read
    for (std::filesystem::directory_iterator task(proc_path(pid, "task"), gone), end;
         !gone && task != end; task.increment(gone)) {
      if (++threads > threads_looked_at_max) return std::nullopt;
      const ThreadTimes times = times_of_thread(task->path());
      of_threads_us += times.on_cpu_us;
      cpu.longest_wait_us = std::max(cpu.longest_wait_us, times.waited_us);
    }
    // Threads that have ended are in stat alone.
    const ProcessStat stat = stat_of(pid).value_or(ProcessStat{});
    cpu.used_us += std::max(of_threads_us, stat.own_cpu_us) + stat.children_cpu_us;
  }
  return cpu;
}

}  // namespace paddock::kernel
