#pragma once
// cgroup v2: one leaf per run. Where there is one, the leaf is the run's identity for the kill:
// cgroup.kill reaches every process of the run, however it forked, and "populated 0" proves the
// end.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/fd.hpp"
#include "kernel/policy/profile.hpp"

namespace paddock::kernel {

// A directory below which this process may make leaves.
struct CgroupBase {
  std::string path;
  std::vector<std::string> controllers;  // enabled for the leaves: of memory, pids, cpu

  bool operator==(const CgroupBase&) const = default;
};

// Prepares `path`: it must be a cgroup2 directory that this process may write to. Makes it if its
// parent is one, and enables memory, pids and cpu for the leaves as far as they are delegated.
// Fails with sandbox_not_available.
Result<CgroupBase> prepare_cgroup_base(const std::string& path);

// One run's leaf. The destructor removes it, which works once it is empty.
class CgroupLeaf {
 public:
  // Makes base/name and writes every knob that `base` has, every time.
  static Result<CgroupLeaf> create(const CgroupBase& base, const std::string& name,
                                   const CgroupLimits& limits);
  CgroupLeaf(CgroupLeaf&&) noexcept = default;
  CgroupLeaf& operator=(CgroupLeaf&&) noexcept = default;
  ~CgroupLeaf();

  int directory() const { return directory_.get(); }  // for CLONE_INTO_CGROUP
  void kill() const;                                  // SIGKILL to every process in it
  bool populated() const;
  std::uint64_t oom_kills() const;  // memory.events; 0 without the memory controller

 private:
  CgroupLeaf(std::string path, Fd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  std::string path_;
  Fd directory_;
};

}  // namespace paddock::kernel
