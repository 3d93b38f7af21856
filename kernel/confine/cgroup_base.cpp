#include "kernel/confine/cgroup_base.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "kernel/base/fd.hpp"
#include "kernel/confine/cgroup_files.hpp"
#include "kernel/confine/cgroup_paths.hpp"

namespace paddock::kernel {
namespace {

struct Controller {
  const char* name;
  const char* knob;  // without it the controller limits nothing
};
constexpr std::array controllers = {Controller{"memory", "memory.max"},
                                    Controller{"pids", "pids.max"}, Controller{"cpu", "cpu.max"}};

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::string in_quotes(const std::string& path) {
  return "'" + path + "'";
}

// An empty, "." or ".." part names a directory in a way that its path does not show.
bool is_plain_absolute(const std::string& path) {
  if (!path.starts_with('/')) return false;
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

// 0, or the errno: ELOOP if a part of the path is a symbolic link.
int open_without_links(const std::string& path, Fd& fd) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  fd = Fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  return fd ? 0 : errno;
}

// A cgroup that was made for a base is removed again if it cannot be one.
class MadeCgroup {
 public:
  explicit MadeCgroup(std::string path) : path_(std::move(path)) {}
  MadeCgroup(const MadeCgroup&) = delete;
  MadeCgroup& operator=(const MadeCgroup&) = delete;
  ~MadeCgroup() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

// What /proc/PID/cgroup calls the directory, or none if no mount that this process sees tells.
std::optional<std::string> proc_path_of_directory(const std::string& directory) {
  std::optional<std::string> found;
  std::size_t longest = 0;
  for (const CgroupMount& mount : cgroup2_mounts(own_mountinfo())) {
    const auto path = proc_path_of(mount, directory);
    if (!path || mount.where.size() < longest) continue;
    longest = mount.where.size();
    found = path;
  }
  return found;
}

// A process may only be started in a cgroup if cgroup.procs of the nearest ancestor that it has in
// common with the starter's cgroup is the starter's to write.
std::string unreachable_because(const std::string& directory, const std::string& proc_path) {
  const std::string own = own_cgroup2_path();
  if (own.empty()) return {};
  const std::string ancestor = common_ancestor(proc_path, own);
  std::string at = directory;
  for (std::string path = proc_path; path != ancestor; path = cgroup_parent(path))
    at = cgroup_parent(at);
  if (::access((at + "/cgroup.procs").c_str(), W_OK) == 0) return {};
  return "cannot be entered from this process's cgroup " + in_quotes(own) +
         ": that takes the right to write " + in_quotes(at + "/cgroup.procs") +
         "; start paddock in a cgroup below the one that is delegated to this user";
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string controllers_problem(const std::vector<std::string>& absent,
                                const std::vector<std::string>& refused, bool busy) {
  if (busy)
    return "other processes in it keep its controllers from being enabled for runs; start paddock "
           "as the only program of a scope or service with Delegate=yes";
  if (!refused.empty()) return "the kernel refuses to enable " + joined(refused, ", ");
  if (!absent.empty())
    return "its parent does not give it " + joined(absent, ", ") +
           "; a scope or service with Delegate=yes has them where cgroup v2 does";
  return {};
}

}  // namespace

std::string unusable_because(const std::string& path) {
  if (!exists(path + "/cgroup.type"))
    return "is the root of its hierarchy; name a directory below it";
  const std::vector<std::string> type = cgroup_words(path + "/cgroup.type");
  if (type != std::vector<std::string>{"domain"})
    return "is of type " + in_quotes(joined(type, " ")) +
           ", and runs need one of type 'domain'; make a new one for them";
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "cannot be looked at: " + errno_text(errno);
  for (const char* file : {"", "/cgroup.procs", "/cgroup.subtree_control"}) {
    const std::string needed = path + file;
    if (::access(needed.c_str(), W_OK) == 0) continue;
    const std::string why = errno_text(errno);
    return "is not delegated to uid " + std::to_string(::geteuid()) + ": " + in_quotes(needed) +
           " cannot be written (" + why + "), and the directory belongs to uid " +
           std::to_string(info.st_uid) + "; " + how_to_be_delegated;
  }
  if (::geteuid() == 0 && info.st_uid != 0)
    return "belongs to uid " + std::to_string(info.st_uid) +
           ", who could move runs out of it; give it to root";
  if (!exists(path + "/cgroup.kill")) return "has no cgroup.kill: the kernel is older than 5.14";
  return {};
}

int enable_controllers(CgroupBase& base) {
  const std::vector<std::string> available = cgroup_words(base.path + "/cgroup.controllers");
  const std::string control = base.path + "/cgroup.subtree_control";
  const std::vector<std::string> enabled = cgroup_words(control);
  // With a process in it memory cannot be enabled; pids and cpu can, and that turns it into the
  // root of a threaded subtree, whose children take no processes at all.
  const bool inhabited = !cgroup_words(base.path + "/cgroup.procs").empty();
  std::vector<std::string> absent;
  std::vector<std::string> refused;
  bool busy = false;
  base.controllers.clear();
  base.absent_knobs.clear();
  for (const auto& [name, knob] : controllers) {
    const std::string knob_path = base.path + "/" + knob;
    if (!has_word(available, name) || !exists(knob_path)) {
      absent.emplace_back(name);
      continue;
    }
    int error = 0;
    if (!has_word(enabled, name))
      error = inhabited ? EBUSY : write_cgroup_file(control, std::string("+") + name);
    if (error == 0) base.controllers.emplace_back(name);
    if (error != 0) refused.push_back(std::string(name) + " (" + errno_text(error) + ")");
    busy = busy || error == EBUSY;
  }
  // Not every kernel accounts for swap or lets a quota be saved up. What the base does not have its
  // leaves do not have either.
  for (const char* knob : {"memory.swap.max", "cpu.max.burst"})
    if (!exists(base.path + "/" + knob)) base.absent_knobs.emplace_back(knob);
  base.problem = controllers_problem(absent, refused, busy);
  return busy ? EBUSY : 0;
}

Result<CgroupBase> prepare_cgroup_base(const std::string& path) {
  const auto unavailable = [&](const std::string& why) {
    return fail(ErrorCode::sandbox_not_available, "cgroup base " + in_quotes(path) + " " + why);
  };
  if (!is_plain_absolute(path))
    return unavailable("is not an absolute path without empty, '.' and '..' parts");
  Fd directory;
  int error = open_without_links(path, directory);
  std::optional<MadeCgroup> made;
  if (error == ENOENT && is_on_cgroup2(cgroup_parent(path))) {
    if (::mkdir(path.c_str(), 0755) != 0)
      return unavailable("cannot be made: " + errno_text(errno));
    made.emplace(path);
    error = open_without_links(path, directory);
  }
  if (error == ELOOP)
    return unavailable("is reached through a symbolic link; name the directory itself");
  if (error != 0) return unavailable("cannot be opened: " + errno_text(error));
  if (!is_on_cgroup2(path)) return unavailable("is not on a cgroup2 file system");
  if (const std::string why = unusable_because(path); !why.empty()) return unavailable(why);
  const auto proc_path = proc_path_of_directory(path);
  if (!proc_path)
    return unavailable("is below a mount that another cgroup namespace made; mount cgroup2 anew");
  if (const std::string why = unreachable_because(path, *proc_path); !why.empty())
    return unavailable(why);
  CgroupBase base{.path = path, .proc_path = *proc_path};
  if (enable_controllers(base) == EBUSY)
    return unavailable(
        "has processes in it, which keep its controllers from being enabled for "
        "runs; name one without any");
  if (made) made->keep();
  return base;
}

}  // namespace paddock::kernel
