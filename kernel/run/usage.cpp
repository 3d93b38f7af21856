#include "kernel/run/usage.hpp"

#include <cinttypes>
#include <cstdio>
#include <string>

#include "kernel/base/fd.hpp"
#include "kernel/base/process_tree.hpp"

namespace paddock::kernel {
namespace {

// One run is looked at each second, beside hundreds of others.
constexpr std::size_t processes_looked_at_max = 256;
constexpr std::size_t proc_io_bytes_max = 4096;

// Of the process, its threads, and the children that it has waited for.
std::optional<std::uint64_t> written_bytes_of(pid_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/io", proc_io_bytes_max);
  if (!text) return std::nullopt;
  constexpr std::string_view key = "\nwrite_bytes: ";
  const std::size_t at = text->find(key);
  std::uint64_t bytes = 0;
  if (at == std::string::npos ||
      std::sscanf(text->c_str() + at + key.size(), "%" SCNu64, &bytes) != 1)
    return std::nullopt;
  return bytes;
}

}  // namespace

RunUsage usage_below(pid_t root) {
  RunUsage usage;
  const auto add_written = [&](pid_t pid) {
    if (const auto bytes = written_bytes_of(pid))
      usage.written_bytes = usage.written_bytes.value_or(0) + *bytes;
  };
  // Of the root only what it has from those that have ended.
  usage.cpu_us = stat_of(root).value_or(ProcessStat{}).children_cpu_us;
  add_written(root);
  PidList pending;
  append_children(root, pending);
  for (std::size_t seen = 0; pending.size() > 0; ++seen) {
    if (seen == processes_looked_at_max) {
      usage.complete = false;
      return usage;
    }
    const pid_t pid = pending.pop();
    append_children(pid, pending);
    const ProcessStat stat = stat_of(pid).value_or(ProcessStat{});
    usage.cpu_us += stat.own_cpu_us + stat.children_cpu_us;
    usage.memory_bytes += stat.resident_bytes;
    add_written(pid);
  }
  return usage;
}

}  // namespace paddock::kernel
