#include "kernel/base/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <sstream>
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

// The fields of /proc/PID/stat from `state` on, by their numbers in proc(5); empty if it is gone.
class Stat {
 public:
  explicit Stat(pid_t pid) {
    const std::string text = read_all("/proc/" + std::to_string(pid) + "/stat");
    // The second field is a name that may itself hold ") ".
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return;
    std::istringstream words(text.substr(name_end + 1));
    for (std::string word; words >> word;) fields_.push_back(word);
  }

  bool is_there() const { return fields_.size() > 20 - first_number; }
  char state() const { return fields_[0][0]; }
  std::uint64_t number(std::size_t field) const {
    const std::string& text = fields_[field - first_number];
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

 private:
  static constexpr std::size_t first_number = 3;
  std::vector<std::string> fields_;
};

// True when no thread of the process can run any more. The state alone does not say so: a process
// whose main thread has ended is shown as a zombie while its other threads go on.
bool is_dead(pid_t pid) {
  const Stat stat(pid);
  if (!stat.is_there()) return true;
  constexpr std::size_t num_threads = 20;
  return (stat.state() == 'Z' || stat.state() == 'X') && stat.number(num_threads) <= 1;
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

std::uint64_t own_cpu_us(pid_t pid) {
  const Stat stat(pid);
  if (!stat.is_there()) return 0;
  constexpr std::size_t utime = 14;
  constexpr std::size_t stime = 15;
  const auto ticks_per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return (stat.number(utime) + stat.number(stime)) * 1'000'000 / ticks_per_second;
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
