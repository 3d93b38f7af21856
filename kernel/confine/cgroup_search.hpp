#pragma once
// Finding a cgroup base where nobody named one: below this process's own cgroup, as far as whoever
// manages the host has left that to us.

#include <sys/types.h>

#include <optional>
#include <string>

#include "kernel/base/fd.hpp"
#include "kernel/confine/cgroup_base.hpp"

namespace paddock::kernel {

// What is known of a cgroup that could serve: this process's own one, or the parent of that.
struct CgroupCandidate {
  std::string directory;
  std::string proc_path;
  uid_t uid = 0;                  // of this process
  std::string unusable{};         // why leaves cannot be made in it; empty: they can be
  bool is_host_root = false;      // the root of the whole hierarchy
  bool marked_delegated = false;  // as systemd marks what Delegate=yes gives away
  bool has_others = false;        // processes besides this one are in it

  bool operator==(const CgroupCandidate&) const = default;
};

enum class BaseChoice {
  none,
  itself,          // leaves are made in it, and it stays as it is: others are in it
  itself_vacated,  // this process moves into a child of it first
  child,           // leaves are made in a child of it, and this process stays where it is
};

// What can be used of this process's own cgroup. Pure.
BaseChoice choose_base(const CgroupCandidate& own);

// A cgroup that several supervisors make when they need it; the last of them removes it.
class SharedCgroup {
 public:
  static Result<SharedCgroup> open(const std::string& path);
  SharedCgroup(SharedCgroup&& other) noexcept = default;
  SharedCgroup& operator=(SharedCgroup&&) = delete;
  ~SharedCgroup();

 private:
  SharedCgroup(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  Fd lock_;  // shared flock, until the end of this supervisor however it ends
};

struct CgroupSearch {
  std::optional<CgroupBase> base{};
  std::string problem{};  // why there is none, or why it lacks controllers, and what helps
  std::optional<SharedCgroup> shared{};  // keep it as long as `base` is in use
};

// Looks, moves this process into a child "supervisor" of its own cgroup if that is delegated to it,
// and enables controllers. To be called before the first run; a second time it changes nothing.
CgroupSearch find_cgroup_base();

}  // namespace paddock::kernel
