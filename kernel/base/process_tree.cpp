#include "kernel/base/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <string>

namespace paddock::kernel {
namespace {

std::string read_all(const std::string& path) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::read(fd, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(fd);
  return text;
}

void append_pids(const std::string& text, std::vector<pid_t>& pids) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    pid_t pid = 0;
    const auto parsed = std::from_chars(at, end, pid);
    if (parsed.ec == std::errc()) pids.push_back(pid);
    at = parsed.ec == std::errc() ? parsed.ptr : at;
    ++at;
  }
}

// `state` is the third field of /proc/PID/stat, after a name that may itself hold ") ".
bool is_dead(pid_t pid) {
  const std::string stat = read_all("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return true;
  const char state = stat[name_end + 2];
  return state == 'Z' || state == 'X';
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  DIR* directory = ::opendir(tasks.c_str());
  if (directory == nullptr) return children;
  // Each thread of a process has a list of its own.
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    append_pids(read_all(tasks + entry->d_name + "/children"), children);
  }
  ::closedir(directory);
  return children;
}

std::size_t kill_descendants(pid_t root) {
  std::size_t living = 0;
  for (const pid_t child : children_of(root)) living += kill_tree(child);
  return living;
}

std::size_t kill_tree(pid_t root) {
  std::size_t living = 0;
  std::vector<pid_t> pending = {root};
  while (!pending.empty()) {
    const pid_t pid = pending.back();
    pending.pop_back();
    const std::vector<pid_t> children = children_of(pid);
    pending.insert(pending.end(), children.begin(), children.end());
    if (is_dead(pid)) continue;
    ::kill(pid, SIGKILL);
    ++living;
  }
  return living;
}

}  // namespace paddock::kernel
