#include "kernel/run/strays.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/base/process_tree.hpp"

namespace paddock::kernel {

void become_subreaper() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

std::size_t kill_strays(const std::function<bool(pid_t)>& is_known) {
  std::size_t strays = 0;
  for (const pid_t child : children_of(::getpid())) {
    if (is_known(child)) continue;
    kill_tree(child);
    ::waitpid(child, nullptr, WNOHANG);
    ++strays;  // also if it is reaped: its children come to us only now
  }
  return strays;
}

}  // namespace paddock::kernel
