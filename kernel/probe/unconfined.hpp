#pragma once
// Programs that the supervisor starts outside of every sandbox, for comparison: as nobody where it
// is root, since nothing that runs as root is harmless.

#include <sys/types.h>

#include <string>
#include <vector>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {

class UnconfinedProcess {
 public:
  // `program` is an executable memory file, or -1: argv[0] is a path. Its output can be read, its
  // errors go nowhere. Killed when the supervisor ends.
  static Result<UnconfinedProcess> start(int program, const std::vector<std::string>& argv);
  UnconfinedProcess(UnconfinedProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), output_(std::move(other.output_)) {}
  UnconfinedProcess& operator=(UnconfinedProcess&&) = delete;
  ~UnconfinedProcess();  // kills and reaps it

  pid_t pid() const { return pid_; }
  std::string read_to_end();  // at most 64 KiB, and for at most ten seconds

 private:
  UnconfinedProcess(pid_t pid, Fd output) : pid_(pid), output_(std::move(output)) {}

  pid_t pid_;
  Fd output_;
};

struct MarkedProcess {
  pid_t pid = -1;
  std::string mark;
};

// The processes that have a word that begins with `prefix` among their first few, as this process's
// /proc shows them.
std::vector<MarkedProcess> processes_marked(const std::string& prefix);

}  // namespace paddock::kernel
