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

template <class Set>
void add_new(const Set& before, const Set& after, const std::string& kind, std::string& text) {
  for (const std::string& name : after)
    if (!before.contains(name)) text += (text.empty() ? "" : ", ") + kind + " " + name;
}

}  // namespace

HostState look_at_host(const std::string& cgroup_base, const std::string& workspaces,
                       const std::function<bool(pid_t)>& is_helper) {
  HostState state;
  for (const pid_t child : kernel::children_of(::getpid()))
    if (!is_helper(child)) state.children.push_back(child);
  state.mounts = read_proc("/proc/self/mountinfo");
  std::error_code ignored;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd", ignored))
    ++state.descriptors;
  if (!cgroup_base.empty())
    for (const fs::directory_entry& entry : fs::directory_iterator(cgroup_base, ignored))
      if (entry.is_directory(ignored)) state.cgroups.insert(entry.path());
  for (const std::string& directory : {workspaces, "/tmp"s, "/var/tmp"s, "/dev/shm"s})
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
      const bool ours = entry.path().filename().string().starts_with("paddock-escape-");
      if (ours || directory == workspaces) state.files.insert(entry.path());
    }
  state.keys = count_of(read_proc("/proc/keys"), " paddock-escape-");
  return state;
}

std::string leaks(const HostState& before, const HostState& after) {
  std::string text;
  for (const pid_t child : after.children)
    text += (text.empty() ? "process " : ", process ") + std::to_string(child);
  if (before.mounts != after.mounts) text += (text.empty() ? "" : ", ") + std::string("a mount");
  if (before.descriptors < after.descriptors)
    text += (text.empty() ? "" : ", ") + std::string("a descriptor of the supervisor");
  add_new(before.cgroups, after.cgroups, "cgroup", text);
  add_new(before.files, after.files, "file", text);
  if (before.keys < after.keys) text += (text.empty() ? "" : ", ") + std::string("a key");
  return text;
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
