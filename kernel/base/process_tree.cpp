#include "kernel/base/process_tree.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
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

struct Priority {
  long nice = 0;
  long policy = 0;  // SCHED_OTHER, SCHED_IDLE ...

  bool operator==(const Priority&) const = default;
};

// Of a process or one thread: fields 19 and 41 of its stat. Absent: it is gone.
std::optional<Priority> priority_of(const std::string& task) {
  const auto text = read_file(task + "/stat", proc_file_bytes_max);
  if (!text) return std::nullopt;
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  Priority priority;
  std::string field;
  for (int number = 3; fields >> field; ++number) {
    if (number == 19) priority.nice = std::strtol(field.c_str(), nullptr, 10);
    if (number == 41) priority.policy = std::strtol(field.c_str(), nullptr, 10);
  }
  return priority;
}

// The nice value of its session as a whole, where the kernel shares the CPU out by session.
long session_nice_of(pid_t pid) {
  const auto text = read_file(proc_path(pid, "autogroup"), proc_file_bytes_max);
  long nice = 0;
  if (!text || std::sscanf(text->c_str(), "%*s nice %ld", &nice) != 1) return 0;
  return nice;
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
  const Priority wanted = priority_of("/proc/" + std::to_string(root)).value_or(Priority{});
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
      const Priority priority = priority_of(task->path()).value_or(wanted);
      if (priority.nice > wanted.nice || priority.policy != wanted.policy) cpu.gives_way = true;
    }
    if (session_nice_of(pid) > 0) cpu.gives_way = true;
    // Threads that have ended are in stat alone.
    const ProcessStat stat = stat_of(pid).value_or(ProcessStat{});
    cpu.used_us += std::max(of_threads_us, stat.own_cpu_us) + stat.children_cpu_us;
  }
  return cpu;
}

}  // namespace paddock::kernel
