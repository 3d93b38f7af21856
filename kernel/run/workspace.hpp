#pragma once
// A private directory on the host for one run without bubblewrap: its HOME and where it starts.
// Under bubblewrap the workspace is a sized tmpfs instead.

#include <sys/types.h>

#include <optional>
#include <string>

#include "kernel/base/error.hpp"

namespace paddock::kernel {

class Workspace {
 public:
  // Makes TMPDIR/paddock-XXXXXX (or /tmp/...), mode 0700, owned by `owner` if given.
  static Result<Workspace> create(std::optional<uid_t> owner);
  Workspace(Workspace&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Workspace& operator=(Workspace&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  // Removes the directory and all in it, following no link. Destroy it after the run's last
  // process.
  ~Workspace();

  const std::string& path() const { return path_; }

 private:
  explicit Workspace(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace paddock::kernel
