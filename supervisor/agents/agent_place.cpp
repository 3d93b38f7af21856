#include "supervisor/agents/agent_place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/base/fd.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::fail_errno;
using kernel::Fd;
using kernel::HostUidLease;
using kernel::HostUidRange;
using kernel::Result;

bool is_root() {
  return ::geteuid() == 0;
}

std::string workspace_of(const std::string& state_directory, const std::string& name) {
  return agents_directory(state_directory) + "/" + name + "/workspace";
}

// Ours alone; but where runs have host uids of their own, they pass through it to their workspaces.
Result<void> make_own_directory(const std::string& path) {
  const mode_t mode = is_root() ? 0711 : 0700;
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST)
    return fail_errno("make directory '" + path + "'");
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return fail_errno("look at '" + path + "'");
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
    return fail(ErrorCode::io, "'" + path + "' is not a directory of this user");
  if ((info.st_mode & 07777) != mode && ::chmod(path.c_str(), mode) != 0)
    return fail_errno("chmod '" + path + "'");
  return {};
}

// A run has to get to its workspace as its own user.
Result<void> check_passage(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string directory = path.substr(0, at);
    struct stat info {};
    if (::stat(directory.c_str(), &info) != 0) return fail_errno("look at '" + directory + "'");
    if ((info.st_mode & S_IXOTH) != 0) continue;
    return fail(
        ErrorCode::sandbox_policy_error,
        fmt::format("runs cannot get to the workspace '{}': '{}' has mode {:04o}; chmod o+x "
                    "it, or put state_dir elsewhere",
                    path, directory, info.st_mode & 07777u));
  }
  return {};
}

Result<Fd> open_workspace(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && (errno == ENOTDIR || errno == ELOOP))
    return fail(ErrorCode::sandbox_policy_error, "the workspace '" + path + "' is no directory");
  if (!fd) return fail_errno("open the workspace '" + path + "'");
  return fd;
}

Result<uid_t> owner_of(const Fd& workspace, const std::string& path) {
  struct stat info {};
  if (::fstat(workspace.get(), &info) != 0) return fail_errno("look at '" + path + "'");
  return info.st_uid;
}

// A new workspace as root still belongs to root.
Result<HostUidLease> lease_owner(const Fd& workspace, const std::string& path,
                                 const HostUidRange& host_uids) {
  const uid_t owner = TRY(owner_of(workspace, path));
  if (owner != 0 && !host_uids.contains(owner))
    return fail(ErrorCode::sandbox_policy_error,
                fmt::format("the workspace '{}' belongs to uid {}, which is not in host_uids", path,
                            owner));
  HostUidLease lease =
      owner == 0 ? TRY(HostUidLease::take(host_uids)) : TRY(HostUidLease::share(owner));
  if (owner == 0 && ::fchown(workspace.get(), lease.uid(), lease.uid()) != 0)
    return fail_errno("give '" + path + "' to host uid " + std::to_string(lease.uid()));
  TRY_VOID(lease.keep_for(path));
  return lease;
}

Result<std::optional<HostUidLease>> make_workspace(const std::string& path,
                                                   const HostUidRange& host_uids) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail_errno("make the workspace '" + path + "'");
  const Fd workspace = TRY(open_workspace(path));
  // Whoever it belongs to may have opened it to others.
  if (is_root()) {
    TRY_VOID(check_passage(path));
    HostUidLease lease = TRY(lease_owner(workspace, path, host_uids));
    if (::fchmod(workspace.get(), 0700) != 0) return fail_errno("chmod '" + path + "'");
    return std::optional(std::move(lease));
  }
  const uid_t owner = TRY(owner_of(workspace, path));
  if (owner != ::geteuid())
    return fail(ErrorCode::sandbox_policy_error,
                fmt::format("the workspace '{}' belongs to uid {}, not to this user", path, owner));
  if (::fchmod(workspace.get(), 0700) != 0) return fail_errno("chmod '" + path + "'");
  return std::optional<HostUidLease>();
}

}  // namespace

std::string agents_directory(const std::string& state_directory) {
  return state_directory + "/agents";
}

Result<AgentPlace> make_agent_place(const std::string& state_directory,
                                    const kernel::AgentTemplate& agent,
                                    const HostUidRange& host_uids) {
  const std::string own = agents_directory(state_directory) + "/" + agent.name;
  TRY_VOID(make_own_directory(agents_directory(state_directory)));
  TRY_VOID(make_own_directory(own));
  AgentPlace place;
  place.log = own + "/log";
  if (agent.workspace == kernel::WorkspaceUse::private_per_run) return place;
  place.workspace = workspace_of(state_directory, agent.name);
  place.host_uid = TRY(make_workspace(place.workspace, host_uids));
  return place;
}

Result<std::optional<HostUidLease>> keep_uid_of(const std::string& state_directory,
                                                const std::string& name,
                                                const HostUidRange& host_uids) {
  const std::string path = workspace_of(state_directory, name);
  if (!is_root() || ::access(path.c_str(), F_OK) != 0) return std::optional<HostUidLease>();
  const Fd workspace = TRY(open_workspace(path));
  HostUidLease lease = TRY(lease_owner(workspace, path, host_uids));
  return std::optional(std::move(lease));
}

}  // namespace paddock::supervisor
