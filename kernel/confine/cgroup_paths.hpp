#pragma once
// Where a cgroup of cgroup v2 is: as /proc/PID/cgroup names it, and as a directory below a mount.
// Functions of text: nothing here looks at the host.

#include <optional>
#include <string>
#include <vector>

namespace paddock::kernel {

struct CgroupMount {
  std::string root;   // the cgroup that is mounted: "/", or a nested one in a container
  std::string where;  // the directory that it is mounted at

  bool operator==(const CgroupMount&) const = default;
};

// The cgroup2 mounts in the text of /proc/self/mountinfo, in its order.
std::vector<CgroupMount> cgroup2_mounts(const std::string& mountinfo);

// The cgroup of v2 in the text of /proc/PID/cgroup ("/user.slice/session-3.scope"); empty: none.
std::string cgroup2_path(const std::string& proc_cgroup);

// The directory of the cgroup that /proc/PID/cgroup calls `proc_path`, or none if it is not below
// what `mount` shows. And the other way round.
std::optional<std::string> directory_of(const CgroupMount& mount, const std::string& proc_path);
std::optional<std::string> proc_path_of(const CgroupMount& mount, const std::string& directory);

// The deepest cgroup that is an ancestor of both, or one of them: of "/a/b" and "/a/c", "/a".
std::string common_ancestor(const std::string& a, const std::string& b);

std::string cgroup_parent(const std::string& path);  // of "/a/b", "/a"; of "/a", "/"
std::string cgroup_name(const std::string& path);    // of "/a/b", "b"; of "/", ""
std::string cgroup_child(const std::string& path, const std::string& name);

}  // namespace paddock::kernel
