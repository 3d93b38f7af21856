#include "kernel/confine/cgroup_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>

#include "kernel/confine/cgroup_paths.hpp"
#include "kernel/confine/mounts.hpp"

namespace paddock::kernel {
namespace {

constexpr std::size_t cgroup_file_bytes_max = 1u << 20;
constexpr std::size_t proc_cgroup_bytes_max = 64u << 10;
constexpr int cgroup_depth_max = 64;

std::vector<std::string> children_of_cgroup(const std::string& path) {
  constexpr std::string_view here = ".";
  constexpr std::string_view parent = "..";
  std::vector<std::string> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), &::closedir);
  if (!directory) return children;
  while (const dirent* entry = ::readdir(directory.get()))
    if (entry->d_type == DT_DIR && entry->d_name != here && entry->d_name != parent)
      children.push_back(path + "/" + entry->d_name);
  return children;
}

bool remove_tree(const std::string& path, int depth) {
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return true;
  if (errno != EBUSY || depth == cgroup_depth_max) return false;
  const std::vector<std::string> children = children_of_cgroup(path);
  for (const std::string& child : children) remove_tree(child, depth + 1);
  return !children.empty() && (::rmdir(path.c_str()) == 0 || errno == ENOENT);
}

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  constexpr std::string_view blanks = " \n";
  for (std::size_t begin = text.find_first_not_of(blanks); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return words;
}

}  // namespace

int write_cgroup_file(const std::string& path, const std::string& value) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return errno;
  return ::write(fd.get(), value.data(), value.size()) < 0 ? errno : 0;
}

std::vector<std::string> cgroup_words(const std::string& path) {
  return words_in(read_file(path, cgroup_file_bytes_max).value_or(""));
}

std::vector<std::string> cgroup_words(const Fd& directory, const std::string& name) {
  return words_in(read_file_at(directory, name, cgroup_file_bytes_max).value_or(""));
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::uint64_t counter_in(const std::vector<std::string>& words, std::string_view key) {
  const auto at = std::find(words.begin(), words.end(), key);
  std::uint64_t value = 0;
  if (at != words.end() && at + 1 != words.end())
    std::from_chars((at + 1)->data(), (at + 1)->data() + (at + 1)->size(), value);
  return value;
}

bool is_on_cgroup2(const std::string& path) {
  struct statfs info {};
  return ::statfs(path.c_str(), &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC;
}

bool is_at(const Fd& directory, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(directory.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool remove_cgroup_tree(const std::string& path) {
  return remove_tree(path, 0);
}

std::string own_mountinfo() {
  return read_file("/proc/self/mountinfo", mountinfo_bytes_max).value_or("");
}

std::string own_cgroup2_path() {
  return cgroup2_path(read_file("/proc/self/cgroup", proc_cgroup_bytes_max).value_or(""));
}

}  // namespace paddock::kernel
