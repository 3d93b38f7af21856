#include "escapes/runner/audit.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "kernel/base/fd.hpp"
#include "kernel/base/process_tree.hpp"

namespace paddock::escapes {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
constexpr std::size_t proc_file_bytes_max = 4u << 20;

std::string read_proc(const std::string& path) {
  return kernel::read_file(path, proc_file_bytes_max).value_or("");
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++count;
  return count;
}

// "process 1, process 2, process 3 and 4 more"
class Findings {
 public:
  void add(const std::string& finding) {
    constexpr std::size_t named_max = 3;
    if (++count_ > named_max) return;
    if (!text_.empty()) text_ += ", ";
    text_ += finding;
    named_ = count_;
  }

  void add_new(const std::string& kind, const std::set<std::string>& before,
               const std::set<std::string>& after) {
    for (const std::string& name : after)
      if (!before.contains(name)) add(kind + " " + name);
  }

  std::string text() const {
    return count_ == named_ ? text_ : text_ + " and " + std::to_string(count_ - named_) + " more";
  }

 private:
  std::string text_;
  std::size_t count_ = 0;
  std::size_t named_ = 0;
};

}  // namespace

HostState look_at_host(const std::string& cgroup_base, const std::string& run_prefix,
                       const std::string& workspaces, const std::function<bool(pid_t)>& is_helper) {
  HostState state;
  for (const pid_t child : kernel::children_of(::getpid()))
    if (!is_helper(child)) state.children.push_back(child);
  state.mounts = read_proc("/proc/self/mountinfo");
  std::error_code ignored;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd", ignored))
    ++state.descriptors;
  if (!cgroup_base.empty())
    for (const fs::directory_entry& entry : fs::directory_iterator(cgroup_base, ignored))
      if (entry.path().filename().string().starts_with(run_prefix))
        state.cgroups.insert(entry.path());
  for (const std::string& directory : {workspaces, "/tmp"s, "/var/tmp"s, "/dev/shm"s})
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
      const bool ours = entry.path().filename().string().starts_with("paddock-escape-");
      if (ours || directory == workspaces) state.files.insert(entry.path());
    }
  state.keys = count_of(read_proc("/proc/keys"), " paddock-escape-");
  return state;
}

std::string leaks(const HostState& before, const HostState& after) {
  Findings found;
  for (const pid_t child : after.children) found.add("process " + std::to_string(child));
  if (before.mounts != after.mounts) found.add("a mount");
  if (before.descriptors < after.descriptors) found.add("a descriptor of the supervisor");
  found.add_new("cgroup", before.cgroups, after.cgroups);
  found.add_new("file", before.files, after.files);
  if (before.keys < after.keys) found.add("a key");
  return found.text();
}

void remove_leaked_cgroups(const HostState& before, const HostState& after) {
  for (const std::string& path : after.cgroups)
    if (!before.cgroups.contains(path)) ::rmdir(path.c_str());
}

std::vector<pid_t> processes_of(const std::string& attempt,
                                const std::function<bool(pid_t)>& is_helper) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", ignored)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == ::getpid() || is_helper(pid)) continue;
    if (read_proc(entry.path() / "cmdline").starts_with(attempt)) found.push_back(pid);
  }
  return found;
}

}  // namespace paddock::escapes
