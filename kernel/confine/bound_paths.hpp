#pragma once
// BoundPaths: what a run's binds were when it was started. bubblewrap resolves their paths once
// more on its own, and somebody who can write to a directory on the way can put a symbolic link
// there meanwhile. So each is opened first, without following links, and before the program may
// start the sandbox's own view is compared with what was opened.

#include <sys/types.h>

#include <string>
#include <vector>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {

class BoundPaths {
 public:
  BoundPaths() = default;

  // Fails with sandbox_policy_error if a path is not there or passes through a symbolic link; those
  // of the system, which only root can change, may.
  static Result<BoundPaths> open(const std::vector<std::string>& paths,
                                 const std::vector<std::string>& system_paths = {});

  // The same for one that is seen at another place than its own.
  Result<void> add(const std::string& path, const std::string& seen_at);

  // What `pid` sees at a path that is not what was opened, for people; empty: all as opened.
  std::vector<std::string> differences(pid_t pid) const;

 private:
  struct Bound {
    std::string path;  // where it is seen
    Fd fd;  // held, so that its inode number cannot go to another file
  };
  std::vector<Bound> bounds_;
};

}  // namespace paddock::kernel
