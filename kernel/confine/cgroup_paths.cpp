#include "kernel/confine/cgroup_paths.hpp"

#include <algorithm>
#include <sstream>

namespace paddock::kernel {
namespace {

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

// mountinfo writes blanks, newlines and backslashes as "\040" and the like.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// What of `path` lies below `top`: "" for `top` itself, else "/name...".
std::optional<std::string> below(const std::string& top, const std::string& path) {
  if (top == "/") return path == "/" ? "" : path;
  if (path == top) return "";
  if (path.starts_with(top + "/")) return path.substr(top.size());
  return std::nullopt;
}

std::string joined(const std::string& top, const std::string& rest) {
  if (rest.empty()) return top;
  return top == "/" ? rest : top + rest;
}

// A cgroup outside this process's cgroup namespace: the kernel shows the way up, and hides the
// names that it leads through.
bool is_outside_namespace(const std::string& path) {
  return path == "/.." || path.starts_with("/../");
}

}  // namespace

std::vector<CgroupMount> cgroup2_mounts(const std::string& mountinfo) {
  std::vector<CgroupMount> mounts;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    // 31 23 0:28 ROOT WHERE OPTIONS [FIELDS...] - TYPE SOURCE OPTIONS
    std::istringstream words(line);
    std::string skipped;
    CgroupMount mount;
    words >> skipped >> skipped >> skipped >> mount.root >> mount.where;
    std::string word;
    while (words >> word && word != "-") {
    }
    std::string type;
    if (words >> type && type == "cgroup2")
      mounts.push_back({unescaped(mount.root), unescaped(mount.where)});
  }
  return mounts;
}

std::string cgroup2_path(const std::string& proc_cgroup) {
  std::istringstream lines(proc_cgroup);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::/")) return line.substr(3);
  return {};
}

std::optional<std::string> directory_of(const CgroupMount& mount, const std::string& proc_path) {
  if (is_outside_namespace(mount.root) || is_outside_namespace(proc_path)) return std::nullopt;
  const auto rest = below(mount.root, proc_path);
  if (!rest) return std::nullopt;
  return joined(mount.where, *rest);
}

std::optional<std::string> proc_path_of(const CgroupMount& mount, const std::string& directory) {
  if (is_outside_namespace(mount.root)) return std::nullopt;
  const auto rest = below(mount.where, directory);
  if (!rest) return std::nullopt;
  return joined(mount.root, *rest);
}

std::string common_ancestor(const std::string& a, const std::string& b) {
  std::string ancestor = a;
  while (!below(ancestor, b)) ancestor = cgroup_parent(ancestor);
  return ancestor;
}

std::string cgroup_parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string cgroup_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string cgroup_child(const std::string& path, const std::string& name) {
  return joined(path, "/" + name);
}

}  // namespace paddock::kernel
