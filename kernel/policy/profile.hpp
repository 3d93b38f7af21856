#pragma once
// Profile: a named set of limits and isolation, as an operator wrote it in TOML. Nothing here is
// resolved yet; policy.hpp turns a profile and a request into a SandboxPolicy.
//
// The TOML form, key by key, is profiles/strict.toml. A limit that is absent means unlimited.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paddock::kernel {

// setrlimit(2) values, soft == hard, set in the agent's process before execve. Absent: unlimited.
struct ResourceLimits {
  std::optional<std::uint64_t> cpu_seconds;   // RLIMIT_CPU, per process
  std::optional<std::uint64_t> memory_bytes;  // RLIMIT_AS: per process and virtual. Node and JVMs
                                              // reserve some GiB at their start
  std::optional<std::uint64_t> fsize_bytes;   // RLIMIT_FSIZE, per file
  std::optional<std::uint64_t> nproc;         // RLIMIT_NPROC, set inside the run's own user
                                              // namespace: counts this run alone, its init included
  std::optional<std::uint64_t> nofile;        // RLIMIT_NOFILE, per process
  std::uint64_t core_size = 0;  // RLIMIT_CORE, in bytes; the one limit where 0 is valid

  bool operator==(const ResourceLimits&) const = default;
};

// Limits of the run as a whole, in a cgroup v2 leaf of its own.
enum class CgroupUse {
  never,         // no leaf is made
  if_delegated,  // used where the host has it; the run's record says which it got
  required,      // refused where it cannot be had
};
constexpr std::uint64_t pids_max_max = 4'194'304;  // PID_MAX_LIMIT, linux/threads.h
struct CgroupLimits {
  CgroupUse use = CgroupUse::if_delegated;
  std::optional<std::uint64_t> memory_max;  // bytes, with swap.max = 0 and oom.group = 1
  std::optional<std::uint64_t> pids_max;
  std::optional<double> cpu_max;  // cores

  bool operator==(const CgroupLimits&) const = default;
};

// Landlock, set by the agent's process on itself. With bubblewrap it also says which files may be
// read and written; without it, it only cuts the agent off from processes outside its run.
enum class LandlockUse {
  never,
  if_supported,  // used where the kernel has it; the run's record says so if not
  required,      // refused where the kernel does not have it
};
constexpr unsigned landlock_abi_most = 6;  // of those that paddock uses something of
struct LandlockLimits {
  LandlockUse use = LandlockUse::never;
  unsigned abi = 1;  // the least that counts as having it; of a kernel with more, more is used, and
                     // the receipt says what

  bool operator==(const LandlockLimits&) const = default;
};

// The system call filter that the agent's process loads last.
enum class SeccompUse {
  off,
  default_list,  // "default": all but what only administrators and attackers call
  strict,        // what interpreters, compilers and their programs are known to need
};

// What a request may add to this profile. Everything else a request can only tighten.
struct RequestRights {
  std::vector<std::string> bind_ro;  // absolute prefixes below which a request may bind read-only
  std::vector<std::string> bind_rw;  // the same, writable
  bool network = false;              // may a request ask for the host's network

  bool operator==(const RequestRights&) const = default;
};

struct Profile {
  std::string name;         // [A-Za-z0-9_-]{1,64}
  std::string description;  // one line, shown by `paddock profile list`
  std::string source;       // the file it came from

  ResourceLimits limits;
  std::optional<std::chrono::milliseconds> wall_clock;  // [limits] wall_seconds; absent: unlimited
  std::chrono::milliseconds grace{1000};                // [limits] grace_seconds: TERM to KILL
  std::uint64_t output_bytes = 10u << 20;               // kept per stream; the rest is drained
  std::optional<std::uint64_t> output_stop_bytes;       // of both streams: past it it is stopped

  CgroupLimits cgroup;

  bool use_bubblewrap = false;
  bool deny_network = false;
  std::vector<std::string> bind_ro;
  std::vector<std::string> bind_rw;
  std::string workdir;  // where the program starts, as it sees it; empty: the workspace
  std::uint64_t tmp_bytes = 64u << 20;         // size of each of /tmp, /dev/shm and HOME
  std::uint64_t workspace_bytes = 256u << 20;  // size of the private /workspace
  bool new_session = true;                     // setsid in the agent's process
  SeccompUse seccomp = SeccompUse::off;
  bool own_host_uid = false;  // required: a host uid that nothing else on the host has, which takes
                              // a supervisor started as root. It gives one in any case

  LandlockLimits landlock;

  std::vector<std::string> allow_environment;      // names a request may set
  std::map<std::string, std::string> environment;  // set by the profile itself

  RequestRights requests;

  bool operator==(const Profile&) const = default;
};

}  // namespace paddock::kernel
