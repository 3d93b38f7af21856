#include "kernel/confine/bubblewrap.hpp"

#include <algorithm>
#include <initializer_list>

#include "kernel/confine/launch_spec.hpp"

namespace paddock::kernel {
namespace {

using Arguments = std::vector<std::string>;

void append(Arguments& to, std::initializer_list<std::string> words) {
  to.insert(to.end(), words.begin(), words.end());
}

void add_namespaces(const SandboxPolicy& policy, Arguments& arguments) {
  append(arguments,
         {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup"});
  if (policy.deny_network) append(arguments, {"--unshare-net"});
  const std::string id = std::to_string(sandbox_uid);
  append(arguments, {"--uid", id, "--gid", id, "--hostname", "sandbox"});
  append(arguments, {"--die-with-parent", "--cap-drop", "ALL"});
}

void close_user_namespaces(Arguments& arguments) {
  append(arguments, {"--disable-userns", "--assert-userns-disabled"});
}

void add_tmpfs(const std::string& path, std::uint64_t size_bytes, const std::string& permissions,
               Arguments& arguments) {
  append(arguments,
         {"--perms", permissions, "--size", std::to_string(size_bytes), "--tmpfs", path});
}

bool any_bind(const SandboxPolicy& policy, bool (*matches)(const std::string& path)) {
  return std::any_of(policy.bind_ro.begin(), policy.bind_ro.end(), matches) ||
         std::any_of(policy.bind_rw.begin(), policy.bind_rw.end(), matches);
}

// /var/tmp is a link to /tmp, unless a bind is in the way: below it, it is a tmpfs of its own; at
// or above it, it is what the operator bound. Comes before every bind.
void add_var_tmp(const SandboxPolicy& policy, Arguments& arguments) {
  if (!has_own_var_tmp(policy)) return;
  append(arguments, {"--dir", "/var"});
  if (var_tmp_is_tmpfs(policy)) {
    add_tmpfs("/var/tmp", policy.tmp_bytes, "1777", arguments);
  } else {
    append(arguments, {"--symlink", "/tmp", "/var/tmp"});
  }
}

void add_host_directories(const SandboxPolicy& policy, const HostFacts& host,
                          Arguments& arguments) {
  add_var_tmp(policy, arguments);
  for (const std::string& path : policy.bind_ro) append(arguments, {"--ro-bind", path, path});
  for (const auto& [name, target] : host.usr_links) append(arguments, {"--symlink", target, name});
  for (const std::string& path : host.system_directories)
    append(arguments, {"--ro-bind", path, path});
}

void add_etc_binds(const SandboxPolicy& policy, const HostFacts& host, Arguments& arguments) {
  append(arguments, {"--dir", "/etc"});
  for (const std::string& path : host.etc_binds) append(arguments, {"--ro-bind", path, path});
  if (!policy.deny_network && !host.certificates.empty())
    append(arguments, {"--ro-bind", host.certificates, host.certificates});
}

void add_kernel_file_systems(const SandboxPolicy& policy, const HostFacts& host, SandboxOf whose,
                             Arguments& arguments) {
  append(arguments, {"--proc", "/proc"});
  if (whose == SandboxOf::run) {
    for (const std::string& path : host.proc_masks)
      append(arguments, {"--ro-bind", "/dev/null", path});
  }
  append(arguments, {"--dev", "/dev"});
  if (whose == SandboxOf::run) add_tmpfs("/dev/shm", policy.tmp_bytes, "1777", arguments);
  append(arguments, {"--remount-ro", "/dev"});  // else a second writable tmpfs, half of RAM in size
}

void add_writable_directories(const SandboxPolicy& policy, Arguments& arguments) {
  add_tmpfs("/tmp", policy.tmp_bytes, "1777", arguments);
  add_tmpfs(sandbox_home, policy.tmp_bytes, "0700", arguments);
  if (policy.workspace.empty()) {
    add_tmpfs(sandbox_workspace, policy.workspace_bytes, "0700", arguments);
  } else {
    append(arguments, {"--bind", policy.workspace, sandbox_workspace});
  }
  append(arguments, {"--dir", "/run"});
  // Writable binds come last: no mount destination lies below what an agent can write
  // (CVE-2026-87766; check_policy refuses nested ones).
  for (const std::string& path : policy.bind_rw) append(arguments, {"--bind", path, path});
}

// Where each fork has a tmpfs of its own.
void add_places_for_forks(Arguments& arguments) {
  for (const char* path : {"/tmp", sandbox_home, sandbox_workspace, "/run"})
    append(arguments, {"--dir", path});
}

std::map<std::string, std::string> synthetic_etc(const SandboxPolicy& policy,
                                                 const HostFacts& host) {
  const std::string id = std::to_string(sandbox_uid);
  std::map<std::string, std::string> files = {
      {"/etc/passwd", "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent:x:" + id + ":" + id +
                          ":agent:" + sandbox_home +
                          ":/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
      {"/etc/group", "root:x:0:\nagent:x:" + id + ":\nnogroup:x:65534:\n"},
      {"/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"},
      {"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"},
      // Files of the host belong to "nobody" here; git would refuse to read such a repository.
      {"/etc/gitconfig", "[safe]\n\tdirectory = *\n"},
  };
  if (!host.localtime.empty()) files["/etc/localtime"] = host.localtime;
  if (!policy.deny_network) files["/etc/resolv.conf"] = host.resolv_conf;
  return files;
}

}  // namespace

bool has_own_var_tmp(const SandboxPolicy& policy) {
  return !any_bind(policy,
                   [](const std::string& path) { return path == "/var" || path == "/var/tmp"; });
}

bool var_tmp_is_tmpfs(const SandboxPolicy& policy) {
  return has_own_var_tmp(policy) &&
         any_bind(policy, [](const std::string& path) { return path.starts_with("/var/tmp/"); });
}

BubblewrapCall bubblewrap_call(const SandboxPolicy& policy, const HostFacts& host,
                               SandboxOf whose) {
  BubblewrapCall call;
  Arguments& arguments = call.arguments;
  add_namespaces(policy, arguments);
  if (whose == SandboxOf::run) close_user_namespaces(arguments);
  append(arguments, {"--as-pid-1"});  // paddock-launch is the init
  add_host_directories(policy, host, arguments);
  add_etc_binds(policy, host, arguments);
  int fd = fd_first_file;
  for (auto& [path, contents] : synthetic_etc(policy, host)) {
    append(arguments, {"--perms", "0444", "--file", std::to_string(fd), path});
    call.files[fd++] = contents;
  }
  add_kernel_file_systems(policy, host, whose, arguments);
  if (whose == SandboxOf::run) {
    add_writable_directories(policy, arguments);
  } else {
    add_places_for_forks(arguments);
  }
  append(arguments, {"--remount-ro", "/"});
  return call;
}

Result<std::vector<std::string>> wrap_with_bubblewrap(const std::vector<std::string>& argv,
                                                      const SandboxPolicy& policy,
                                                      const HostFacts& host) {
  if (!policy.use_bubblewrap) return argv;
  if (host.bubblewrap.empty())
    return fail(ErrorCode::sandbox_not_available, host.bubblewrap_problem);
  Arguments wrapped = {host.bubblewrap};
  add_namespaces(policy, wrapped);
  close_user_namespaces(wrapped);
  append(wrapped, {"--new-session"});
  add_host_directories(policy, host, wrapped);
  add_etc_binds(policy, host, wrapped);
  add_kernel_file_systems(policy, host, SandboxOf::run, wrapped);
  add_writable_directories(policy, wrapped);
  append(wrapped, {"--remount-ro", "/", "--chdir",
                   policy.workdir.empty() ? sandbox_workspace : policy.workdir, "--"});
  wrapped.insert(wrapped.end(), argv.begin(), argv.end());
  return wrapped;
}

Result<std::vector<std::string>> wrap_with_bubblewrap(const std::vector<std::string>& argv,
                                                      const SandboxPolicy& policy) {
  return wrap_with_bubblewrap(argv, policy, detect_host());
}

}  // namespace paddock::kernel
