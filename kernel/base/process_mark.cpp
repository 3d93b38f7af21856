#include "kernel/base/process_mark.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace paddock::kernel {
namespace {

// Empty where /proc does not show it: then marks are told apart by their start time alone, which
// no two boots share but by chance.
const std::string& boot_id() {
  static const std::string id = [] {
    constexpr std::size_t bytes_max = 256;
    std::string text = read_file("/proc/sys/kernel/random/boot_id", bytes_max).value_or("");
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
  }();
  return id;
}

}  // namespace

std::optional<ProcessMark> mark_of(pid_t pid) {
  const auto stat = stat_of(pid);
  if (!stat) return std::nullopt;
  return mark_of(pid, *stat);
}

ProcessMark mark_of(pid_t pid, const ProcessStat& stat) {
  return {.pid = pid, .start_ticks = stat.start_ticks, .boot_id = boot_id()};
}

bool is_same_process(const ProcessMark& mark) {
  return mark.pid > 0 && mark_of(mark.pid) == mark;
}

Fd open_marked(const ProcessMark& mark) {
  if (mark.pid <= 0) return {};
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, mark.pid, 0)));
  if (!pidfd || !is_same_process(mark)) return {};
  return pidfd;
}

}  // namespace paddock::kernel
