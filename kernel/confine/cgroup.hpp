#pragma once
// cgroup v2: one leaf per run. Where there is one, the leaf is the run's identity for the kill:
// cgroup.kill reaches every process of the run, however it forked, and "populated 0" proves the
// end.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/fd.hpp"
#include "kernel/confine/cgroup_base.hpp"
#include "kernel/policy/profile.hpp"

namespace paddock::kernel {

// File name -> value of every knob that a leaf of `limits` below `base` gets, unlimited ones too,
// as the kernel shows it afterwards. Pure.
std::map<std::string, std::string> planned_knobs(const CgroupLimits& limits,
                                                 const CgroupBase& base);

// Removes the leaves below `base` that no living supervisor holds, and kills what is left in them:
// of runs whose supervisor was killed, and of runs whose last process took too long to die. A leaf
// is known by its name, that of a run ("r-" and 16 hex digits).
void sweep_leaves(const CgroupBase& base);

// What the kernel counted in a leaf. A counter whose controller the leaf does not have is 0.
struct CgroupUsage {
  std::uint64_t oom_kills = 0;     // memory.events: processes killed for lack of memory, whoever's
  std::uint64_t oom_events = 0;    // the same: times that the leaf was at its own memory_max
  std::uint64_t pids_refused = 0;  // pids.events: forks refused at pids_max
  std::uint64_t cpu_usage_us = 0;  // cpu.stat; without any controller, too
  std::uint64_t throttled_us = 0;  // the same: held back at cpu_max, summed over the CPUs
  std::optional<std::uint64_t> cpu_waited_us{};      // cpu.pressure: a process waited for a CPU
  std::optional<std::uint64_t> memory_bytes{};       // memory.current
  std::optional<std::uint64_t> memory_peak_bytes{};  // memory.peak; Linux 5.19 and later

  bool operator==(const CgroupUsage&) const = default;
};

// One run's leaf. The destructor removes it; should something be in it even then, it is killed and
// waited for during a moment, and what is left is for the next sweep.
class CgroupLeaf {
 public:
  // Makes base/name and writes every planned knob, every time.
  static Result<CgroupLeaf> create(const CgroupBase& base, const std::string& name,
                                   const CgroupLimits& limits);
  CgroupLeaf(CgroupLeaf&&) noexcept = default;
  CgroupLeaf& operator=(CgroupLeaf&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(directory_, other.directory_);
    std::swap(knobs_, other.knobs_);
    return *this;
  }
  ~CgroupLeaf();

  // cgroup.procs, open for writing: whoever writes "0" to it enters, whatever its own rights are.
  Result<Fd> entrance() const;
  int directory() const { return directory_.get(); }  // for CLONE_INTO_CGROUP
  void kill() const;                                  // SIGKILL to every process in it
  bool populated() const;
  // All of it stands still until it is thawed; a frozen process can still be killed. Soon after the
  // call, not with it. Fails with io.
  Result<void> freeze() const;
  void thaw() const;
  // What the kernel shows now for the planned knobs; one that cannot be read is not in it.
  std::map<std::string, std::string> limits() const;
  CgroupUsage usage() const;

 private:
  CgroupLeaf(std::string path, Fd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  std::string file(const std::string& name) const { return path_ + "/" + name; }

  std::string path_;
  Fd directory_;  // holds an exclusive flock: this leaf's supervisor is alive
  std::vector<std::string> knobs_;
};

}  // namespace paddock::kernel
