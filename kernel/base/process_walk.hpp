#pragma once
// Walking the tree of processes as /proc shows it, with the C library alone: paddock-launch uses
// it. The tree changes while it is read: callers repeat until the kernel itself says that nobody is
// left.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

namespace paddock::kernel {

// A growing list of pids. Out of memory it drops what it is given, and the next pass finds it
// again.
class PidList {
 public:
  PidList() = default;
  PidList(const PidList&) = delete;
  PidList& operator=(const PidList&) = delete;
  ~PidList();

  void push(pid_t pid);
  pid_t pop() { return pids_[--size_]; }
  size_t size() const { return size_; }
  const pid_t* begin() const { return pids_; }
  const pid_t* end() const { return pids_ + size_; }

 private:
  pid_t* pids_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// Appends the children of `pid`, of each of its threads.
void append_children(pid_t pid, PidList& children);

// SIGKILL to every living process below `root`, or to `root` and every one below it. One pass;
// returns how many it signalled.
size_t kill_descendants(pid_t root);
size_t kill_tree(pid_t root);

// CPU time of the process itself, without its children, as RLIMIT_CPU counts it. Also of a zombie;
// 0 if there is no such process.
uint64_t own_cpu_us(pid_t pid);

}  // namespace paddock::kernel
