#pragma once
// Stage: everything on the host that attempts go for - canary files, a process with a secret,
// listeners, inherited descriptors - and a second set of it, the bait, for the controls, which are
// meant to get at it. Nothing of the host's own is touched.

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "kernel/base/fd.hpp"

namespace paddock::escapes {

enum class Side { canary, bait };

class Stage {
 public:
  // `parent`: a directory to make its own in.
  static kernel::Result<std::unique_ptr<Stage>> set_up(const std::string& parent);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  const std::string& path() const { return path_; }
  std::string programs() const { return path_ + "/programs"; }
  std::string attempt() const { return programs() + "/paddock-attempt"; }
  std::string workspaces() const { return path_ + "/workspaces"; }
  std::string work() const { return path_ + "/work"; }  // where controls start

  // "key=value" words for an attempt. `tmpfs`: a directory that is one.
  std::vector<std::string> arguments(Side side, const std::string& tmpfs,
                                     const std::string& channel) const;

  // Puts back what is missing, and tells what was: empty if all is as it was.
  std::string restore(Side side);

  // What DEFAULT lets two runs leave in shared places (for those that use `channel`).
  static void remove_shared(const std::string& channel);

  bool is_helper(pid_t pid) const;  // a process that the stage itself has started

 private:
  Stage() = default;

  kernel::Result<void> make_files();
  kernel::Result<void> make_programs();
  kernel::Result<void> make_listeners();
  void make_inherited_state();
  void plant(Side side) const;
  std::string directory(Side side) const;
  void start_victim(Side side);

  std::string path_;
  std::string name_;  // of the abstract socket; no other process has one like it
  std::map<Side, pid_t> victims_;
  std::vector<kernel::Fd> kept_;
  std::map<std::string, std::string> facts_;
  int shared_memory_ = -1;
};

}  // namespace paddock::escapes
