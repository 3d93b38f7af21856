#include "kernel/base/process_walk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace paddock::kernel {
namespace {

constexpr size_t path_size = 64;  // the longest is /proc/PID/task/TID/children

// Reads the decimal numbers of a `children` file, which can be split anywhere between two reads.
void append_numbers(int fd, PidList& pids) {
  char buffer[4096];
  pid_t number = 0;
  bool in_number = false;
  ssize_t count = 0;
  while ((count = read(fd, buffer, sizeof buffer)) > 0) {
    for (ssize_t i = 0; i < count; ++i) {
      const bool is_digit = buffer[i] >= '0' && buffer[i] <= '9';
      if (is_digit) number = number * 10 + (buffer[i] - '0');
      if (!is_digit && in_number) pids.push(number);
      if (!is_digit) number = 0;
      in_number = is_digit;
    }
  }
  if (in_number) pids.push(number);
}

// True when no thread of the process can run any more. The state alone does not say so: a process
// whose main thread has ended is shown as a zombie while its other threads go on.
bool is_dead(pid_t pid) {
  char path[path_size];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  char text[1024];
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return true;
  text[size] = '\0';
  // The second field is a name that may itself hold ") ". Field 3 is the state, field 20 the number
  // of threads; see proc(5).
  const char* const name_end = strrchr(text, ')');
  char state = 0;
  int threads = 0;
  if (name_end == nullptr ||
      sscanf(name_end + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
             &state, &threads) != 2)
    return true;
  return (state == 'Z' || state == 'X') && threads <= 1;
}

// Kills what is in `pending` and everything below.
size_t kill_all_below(PidList& pending) {
  size_t living = 0;
  while (pending.size() > 0) {
    const pid_t pid = pending.pop();
    append_children(pid, pending);
    if (is_dead(pid)) continue;
    kill(pid, SIGKILL);
    ++living;
  }
  return living;
}

}  // namespace

PidList::~PidList() {
  free(pids_);
}

void PidList::push(pid_t pid) {
  if (size_ == capacity_) {
    const size_t capacity = capacity_ == 0 ? 64 : capacity_ * 2;
    auto* const larger = static_cast<pid_t*>(realloc(pids_, capacity * sizeof(pid_t)));
    if (larger == nullptr) return;
    pids_ = larger;
    capacity_ = capacity;
  }
  pids_[size_++] = pid;
}

void append_children(pid_t pid, PidList& children) {
  char path[path_size];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR* const tasks = opendir(path);
  if (tasks == nullptr) return;
  // Each thread of a process has a list of its own.
  while (const dirent* const task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", pid, task->d_name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    append_numbers(fd, children);
    close(fd);
  }
  closedir(tasks);
}

size_t kill_descendants(pid_t root) {
  PidList pending;
  append_children(root, pending);
  return kill_all_below(pending);
}

size_t kill_tree(pid_t root) {
  PidList pending;
  pending.push(root);
  return kill_all_below(pending);
}

uint64_t own_cpu_us(pid_t pid) {
  // The clock is named as clock_getcpuclockid(3) does, but for CPUCLOCK_PROF: user and system time
  // as they are counted for RLIMIT_CPU. The exact times that /proc and getrusage show can be a
  // quarter less on a busy host.
  constexpr unsigned cpuclock_prof = 0;
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | cpuclock_prof);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<uint64_t>(time.tv_nsec) / 1000;
}

}  // namespace paddock::kernel
