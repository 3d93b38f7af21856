#include "kernel/policy/paths.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/policy/request.hpp"

namespace paddock::kernel {

std::string path_form_mistake(std::string_view path) {
  // Control characters would make a log line or a mount table say something else than it means.
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  };
  if (path.empty()) return "is empty";
  if (std::any_of(path.begin(), path.end(), is_control)) return "contains a control character";
  if (path.size() > path_bytes_max) return fmt::format("is longer than {} bytes", path_bytes_max);
  if (path.front() != '/') return "is not absolute";
  if (path == "/") return {};

  std::string_view rest = path;
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the '/' in front of each component
    const std::string_view component = rest.substr(0, rest.find('/'));
    if (component == "..") return "contains '..'";
    if (component == ".") return "contains '.'";
    if (component.empty())
      return "has an empty component: write it without '//' or a '/' at the end";
    rest.remove_prefix(component.size());
  }
  return {};
}

bool is_at_or_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

}  // namespace paddock::kernel
