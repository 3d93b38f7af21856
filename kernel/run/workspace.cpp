#include "kernel/run/workspace.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace paddock::kernel {

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
  std::error_code ignored;  // what an agent made unremovable stays, below a name of its own
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace paddock::kernel
