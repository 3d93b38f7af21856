#include "kernel/run/stopped_tree.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "kernel/base/process_tree.hpp"

namespace paddock::kernel {
namespace {

// Nobody but a fork bomb takes more than a few.
constexpr int passes_max = 20;
constexpr std::size_t processes_max = 4096;

std::vector<pid_t> all_below(pid_t root) {
  std::vector<pid_t> all = children_of(root);
  for (std::size_t at = 0; at < all.size() && all.size() <= processes_max; ++at) {
    const std::vector<pid_t> children = children_of(all[at]);
    all.insert(all.end(), children.begin(), children.end());
  }
  return all;
}

bool stands_still(const ProcessStat& stat) {
  return stat.state == 'T' || stat.state == 't' || stat.state == 'Z' || stat.state == 'X';
}

void signal_marked(const ProcessMark& mark, int signal) {
  if (const Fd pidfd = open_marked(mark))
    ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
}

}  // namespace

bool StoppedTree::stop_below(pid_t root) {
  for (int pass = 0; pass < passes_max && stopped_.size() <= processes_max; ++pass) {
    bool found_another = false;
    for (const pid_t pid : all_below(root)) {
      const auto mark = mark_of(pid);
      const auto stat = stat_of(pid);
      if (!mark || !stat || stands_still(*stat)) continue;
      // Also one that was stopped before: a sibling can have let it go on.
      signal_marked(*mark, SIGSTOP);
      if (std::find(stopped_.begin(), stopped_.end(), *mark) != stopped_.end()) continue;
      stopped_.push_back(*mark);
      found_another = true;
    }
    if (!found_another) return true;
  }
  return false;
}

void StoppedTree::let_go() {
  for (const ProcessMark& mark : stopped_) signal_marked(mark, SIGCONT);
  stopped_.clear();
}

}  // namespace paddock::kernel
