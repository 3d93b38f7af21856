#include "kernel/policy/binds.hpp"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "kernel/base/error.hpp"
#include "kernel/policy/paths.hpp"

namespace paddock::kernel {
namespace {

using namespace std::string_view_literals;

// Made afresh inside each sandbox. A bind onto one of them, below it or above it would either
// cover what confines the run or be covered by it.
constexpr std::array sandbox_trees{
    "/proc"sv, "/dev"sv, "/sys"sv, "/tmp"sv, "/etc"sv, "/workspace"sv, "/home/agent"sv,
};

// Sockets live here, and connect(2) to one works through a read-only mount and without a network.
// With the daemon's or the user's service manager at the other end, that is the way out.
constexpr std::array socket_trees{
    "/run/paddock"sv,
    "/run/user"sv,
    "/run/systemd"sv,
    "/run/dbus"sv,
};

// Programs that the host itself runs: writable from a sandbox, they would carry its code out.
constexpr std::array program_trees{
    "/usr"sv, "/bin"sv, "/sbin"sv, "/lib"sv, "/lib32"sv, "/lib64"sv, "/libx32"sv, "/boot"sv,
};

std::string reserved_mistake(std::string_view path) {
  for (const std::string_view tree : sandbox_trees) {
    if (path == tree) return "is a path that every sandbox has its own of";
    if (is_at_or_below(path, tree)) {
      return fmt::format("is inside '{}', which every sandbox has its own of", tree);
    }
    if (is_at_or_below(tree, path)) {
      return fmt::format("contains '{}', which every sandbox has its own of; bind what is below",
                         tree);
    }
  }
  for (const std::string_view tree : socket_trees) {
    if (is_at_or_below(path, tree) || is_at_or_below(tree, path)) {
      return fmt::format("would show the sockets in '{}' to the run", tree);
    }
  }
  return {};
}

}  // namespace

std::string bind_path_mistake(std::string_view path, BindAccess access) {
  if (std::string mistake = path_form_mistake(path); !mistake.empty()) return mistake;
  if (path == "/") return "is the whole host; bind the directories that the run needs";
  if (std::string mistake = reserved_mistake(path); !mistake.empty()) return mistake;
  if (access == BindAccess::read_only) return {};
  const auto holds = [&](std::string_view tree) { return is_at_or_below(path, tree); };
  const auto tree = std::find_if(program_trees.begin(), program_trees.end(), holds);
  if (tree == program_trees.end()) return {};
  return fmt::format("would let the run change programs of the host in '{}'", *tree);
}

std::string bind_source_mistake(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) {
    if (errno == ENOENT || errno == ENOTDIR) return "does not exist";
    return fmt::format("cannot be looked at: {}", errno_text(errno));
  }
  // A link decides anew at each run what is bound, and whoever may write it decides for us: a
  // request's bind would leave the prefix that was granted (a run planted the link there).
  if (path != resolved) {
    return fmt::format("leads through a symbolic link to '{}'; name the real path", resolved);
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    return fmt::format("cannot be looked at: {}", errno_text(errno));
  }
  if (S_ISSOCK(status.st_mode)) {
    return "is a socket, which a run could talk to even when bound read-only and without a network";
  }
  if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) {
    return "is neither a directory nor a regular file";
  }
  return {};
}

std::string grant_mistake(std::string_view prefix) {
  if (std::string mistake = path_form_mistake(prefix); !mistake.empty()) return mistake;
  const auto within = [&](std::string_view tree) { return is_at_or_below(prefix, tree); };
  if (std::any_of(sandbox_trees.begin(), sandbox_trees.end(), within) ||
      std::any_of(socket_trees.begin(), socket_trees.end(), within)) {
    return "grants nothing: no path at or below it may be bound";
  }
  return {};
}

}  // namespace paddock::kernel
