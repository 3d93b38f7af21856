#pragma once
// A private directory on the host for one run without bubblewrap: its HOME and where it starts.
// Under bubblewrap the workspace is a sized tmpfs instead.

#include <sys/types.h>

#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {

class Workspace {
 public:
  // Makes TMPDIR/paddock-workspace-XXXXXX (or /tmp/...), mode 0700, owned by `owner` if given.
  static Result<Workspace> create(std::optional<uid_t> owner);
  Workspace(Workspace&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  Workspace& operator=(Workspace&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  // Removes the directory and all in it, following no link. Destroy it after the run's last
  // process.
  ~Workspace();

  // Removes what supervisors that were killed have left: workspaces that nobody holds. A workspace is
  // locked just after it is made, so one younger than `age_seconds` is left alone.
  static void sweep(std::time_t age_seconds = 60);

  const std::string& path() const { return path_; }

 private:
  explicit Workspace(std::string path) : path_(std::move(path)) {}

  std::string path_;
  Fd lock_;  // flock on the directory: the kernel drops it with this process
};

}  // namespace paddock::kernel
