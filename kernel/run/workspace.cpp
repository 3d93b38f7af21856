#include "kernel/run/workspace.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
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

constexpr const char* name_prefix = "paddock-workspace-";

fs::path parent_directory() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : parent;
}

void remove_tree(const std::string& path) {
  std::error_code failure;
  fs::remove_all(path, failure);
  if (!failure) return;
  unlock_directories(path);
  fs::remove_all(path, failure);  // what is unremovable even now stays, below a name of its own
}

// Empty if somebody holds it.
Fd lock_directory(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(fd) : Fd();
}

bool is_old_and_ours(const Fd& directory, std::time_t age_seconds) {
  struct stat info {};
  if (::fstat(directory.get(), &info) != 0) return false;
  const bool ours = ::geteuid() == 0 || info.st_uid == ::geteuid();
  return ours && info.st_ctime + age_seconds <= std::time(nullptr);
}

}  // namespace

Result<Workspace> Workspace::create(std::optional<uid_t> owner) {
  std::string path = parent_directory() / (std::string(name_prefix) + "XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) return fail_errno("make a workspace '" + path + "'");
  Workspace workspace(path);
  workspace.lock_ = lock_directory(path);
  if (!workspace.lock_) return fail_errno("lock the workspace '" + path + "'");
  if (owner && ::chown(path.c_str(), *owner, *owner) != 0)
    return fail_errno("give the workspace '" + path + "' to host uid " + std::to_string(*owner));
  return workspace;
}

void Workspace::sweep(std::time_t age_seconds) {
  std::error_code ignored;
  for (fs::directory_iterator at(parent_directory(), ignored), end; at != end;
       at.increment(ignored)) {
    if (!at->path().filename().string().starts_with(name_prefix)) continue;
    const Fd lock = lock_directory(at->path());
    if (lock && is_old_and_ours(lock, age_seconds)) remove_tree(at->path());
  }
}

Workspace::~Workspace() {
  if (!path_.empty()) remove_tree(path_);
}

}  // namespace paddock::kernel
