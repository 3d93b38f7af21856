#include "kernel/confine/cgroup_search.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "kernel/confine/cgroup_files.hpp"
#include "kernel/confine/cgroup_paths.hpp"

namespace paddock::kernel {
namespace {

constexpr const char* supervisor_name = "supervisor";
constexpr const char* shared_name = "paddock";

std::string cgroup_called(const std::string& proc_path) {
  return "cgroup '" + proc_path + "'";
}

// systemd sets one of them, or both, depending on its version. Only CAP_SYS_ADMIN may read the
// first.
bool is_marked_delegated(const std::string& directory) {
  for (const char* name : {"trusted.delegate", "user.delegate"}) {
    char value = 0;
    if (::getxattr(directory.c_str(), name, &value, 1) == 1 && value == '1') return true;
  }
  return false;
}

bool holds(const std::string& directory, pid_t pid) {
  const std::vector<std::string> pids = cgroup_words(directory + "/cgroup.procs");
  return std::find(pids.begin(), pids.end(), std::to_string(pid)) != pids.end();
}

// The directory of this process's cgroup. A mount can be hidden below a later one: the directory is
// the right one if this process is in it.
std::optional<std::string> own_directory(const std::string& mountinfo,
                                         const std::string& proc_path) {
  for (const CgroupMount& mount : cgroup2_mounts(mountinfo)) {
    auto directory = directory_of(mount, proc_path);
    if (directory && is_on_cgroup2(*directory) && holds(*directory, ::getpid())) return directory;
  }
  return std::nullopt;
}

CgroupCandidate look_at(const std::string& directory, const std::string& proc_path) {
  CgroupCandidate found{.directory = directory, .proc_path = proc_path, .uid = ::geteuid()};
  // The root has no type: there is nothing that it could be a part of.
  found.is_host_root = ::access((directory + "/cgroup.type").c_str(), F_OK) != 0;
  if (!found.is_host_root) found.unusable = unusable_because(directory);
  if (found.is_host_root && found.uid != 0)
    found.unusable = "is the root of its hierarchy and not delegated to uid " +
                     std::to_string(found.uid) + "; " + how_to_be_delegated;
  found.marked_delegated = is_marked_delegated(directory);
  const std::vector<std::string> pids = cgroup_words(directory + "/cgroup.procs");
  found.has_others =
      std::any_of(pids.begin(), pids.end(),
                  [own = std::to_string(::getpid())](const auto& pid) { return pid != own; });
  return found;
}

CgroupSearch none(std::string problem) {
  return {.base = std::nullopt, .problem = std::move(problem), .shared = std::nullopt};
}

CgroupSearch finished(CgroupBase base, std::optional<SharedCgroup> shared) {
  enable_controllers(base);
  std::string problem;
  if (!base.problem.empty()) problem = cgroup_called(base.proc_path) + ": " + base.problem;
  return {.base = std::move(base), .problem = std::move(problem), .shared = std::move(shared)};
}

// Empty, or why this process is still where it was.
std::string move_into_child(const CgroupCandidate& own) {
  const std::string child = cgroup_child(own.directory, supervisor_name);
  if (::mkdir(child.c_str(), 0755) != 0 && errno != EEXIST)
    return "cannot get a child '" + child + "': " + errno_text(errno);
  if (const int error = write_cgroup_file(child + "/cgroup.procs", "0"); error != 0)
    return "cannot be left for '" + child + "': " + errno_text(error);
  return {};
}

// The root may have processes and enabled controllers both.
void enable_for_children_of_root(const std::string& root) {
  const std::vector<std::string> available = cgroup_words(root + "/cgroup.controllers");
  for (const std::string name : {"memory", "pids", "cpu"})
    if (std::find(available.begin(), available.end(), name) != available.end())
      write_cgroup_file(root + "/cgroup.subtree_control", "+" + name);
}

CgroupSearch use(const CgroupCandidate& own) {
  CgroupBase base{.path = own.directory, .proc_path = own.proc_path};
  switch (choose_base(own)) {
    case BaseChoice::none:
      return none(cgroup_called(own.proc_path) + " " + own.unusable);
    case BaseChoice::itself:
      return finished(std::move(base), std::nullopt);
    case BaseChoice::itself_vacated: {
      const std::string problem = move_into_child(own);
      if (!problem.empty()) return none(cgroup_called(own.proc_path) + " " + problem);
      return finished(std::move(base), std::nullopt);
    }
    case BaseChoice::child:
      break;
  }
  base = {.path = cgroup_child(own.directory, shared_name),
          .proc_path = cgroup_child(own.proc_path, shared_name)};
  // What the root enables for its children is not taken from anybody; any other cgroup is for
  // whoever manages it to configure.
  if (own.is_host_root) enable_for_children_of_root(own.directory);
  auto shared = SharedCgroup::open(base.path);
  if (!shared) return none(shared.error().message);
  if (const std::string why = unusable_because(base.path); !why.empty())
    return none(cgroup_called(base.proc_path) + " " + why);
  return finished(std::move(base), std::move(*shared));
}

}  // namespace

BaseChoice choose_base(const CgroupCandidate& own) {
  if (!own.unusable.empty()) return BaseChoice::none;
  const bool in_container = own.proc_path == "/" && !own.is_host_root;
  const bool delegated =
      !own.is_host_root && (own.uid != 0 || own.marked_delegated || in_container);
  if (delegated) return own.has_others ? BaseChoice::itself : BaseChoice::itself_vacated;
  return own.uid == 0 ? BaseChoice::child : BaseChoice::none;
}

// Whoever made it meanwhile or just removes it is another supervisor: then once more.
Result<SharedCgroup> SharedCgroup::open(const std::string& path) {
  constexpr int tries_max = 100;
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (int tried = 0; tried < tries_max; ++tried) {
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
      return fail_errno("make cgroup '" + path + "'");
    Fd lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock && ::flock(lock.get(), LOCK_SH | LOCK_NB) == 0 && is_at(lock, path))
      return SharedCgroup(path, std::move(lock));
    ::nanosleep(&pause, nullptr);
  }
  return fail(ErrorCode::io, "cgroup '" + path + "' is locked by another process");
}

SharedCgroup::~SharedCgroup() {
  if (!lock_) return;
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) ::rmdir(path_.c_str());
  ::flock(lock_.get(), LOCK_UN);
}

CgroupSearch find_cgroup_base() {
  const std::string proc_path = own_cgroup2_path();
  const std::string mountinfo = own_mountinfo();
  if (proc_path.empty() || cgroup2_mounts(mountinfo).empty())
    return none("no cgroup2 file system is mounted where this process sees it");
  const auto directory = own_directory(mountinfo, proc_path);
  if (!directory)
    return none("no cgroup2 mount shows this process's " + cgroup_called(proc_path) +
                "; mount cgroup2 in this mount and cgroup namespace");
  if (cgroup_name(proc_path) == supervisor_name && is_on_cgroup2(cgroup_parent(*directory))) {
    // Where an earlier supervisor, or this one, has moved to.
    const CgroupCandidate parent = look_at(cgroup_parent(*directory), cgroup_parent(proc_path));
    const BaseChoice choice = choose_base(parent);
    if (choice == BaseChoice::itself || choice == BaseChoice::itself_vacated)
      return finished({.path = parent.directory, .proc_path = parent.proc_path}, std::nullopt);
  }
  return use(look_at(*directory, proc_path));
}

}  // namespace paddock::kernel
