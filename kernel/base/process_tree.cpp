#include "kernel/base/process_tree.hpp"

namespace paddock::kernel {

std::vector<pid_t> children_of(pid_t pid) {
  PidList children;
  append_children(pid, children);
  return {children.begin(), children.end()};
}

}  // namespace paddock::kernel
