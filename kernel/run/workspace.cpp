#include "kernel/run/workspace.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace paddock::kernel {
namespace {

namespace fs = std::filesystem;

// An agent can take the rights to a directory from itself, and its user is ours where we are not
// root. Whoever owns a directory may give them back.
void unlock_directories(const std::string& path) {
  std::error_code ignored;
  fs::permissions(path, fs::perms::owner_all, ignored);
  for (fs::recursive_directory_iterator at(path, ignored), end; at != end; at.increment(ignored))
    if (at->symlink_status(ignored).type() == fs::file_type::directory)
      fs::permissions(at->path(), fs::perms::owner_all, ignored);
}

}  // namespace

Result<Workspace> Workspace::create(std::optional<uid_t> owner) {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) parent = "/tmp";
  std::string path = parent / "paddock-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail_errno("make a workspace '" + path + "'");
  Workspace workspace(path);
  if (owner && ::chown(path.c_str(), *owner, *owner) != 0)
    return fail_errno("give the workspace '" + path + "' to host uid " + std::to_string(*owner));
  return workspace;
}

Workspace::~Workspace() {
  if (path_.empty()) return;
  std::error_code failure;
  fs::remove_all(path_, failure);
  if (!failure) return;
  unlock_directories(path_);
  fs::remove_all(path_, failure);  // what is unremovable even now stays, below a name of its own
}

}  // namespace paddock::kernel
