#include "kernel/confine/host.hpp"

#include <fcntl.h>
#include <glob.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "kernel/base/error.hpp"
#include "kernel/base/fd.hpp"

namespace paddock::kernel {
namespace {

// PATH is not consulted: who can set it could plant a bwrap of their own.
constexpr std::array trusted_directories = {"/usr/bin", "/usr/local/bin", "/bin"};
constexpr std::size_t localtime_bytes_max = 64 * 1024;
constexpr std::size_t resolv_conf_bytes_max = 64 * 1024;

std::optional<std::string> find_tool(const std::string& name) {
  for (const char* directory : trusted_directories) {
    const std::string path = std::string(directory) + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

// The first line that `path --version` prints; empty if it cannot be run.
std::string version_line(const std::string& path) {
  auto pipe = make_pipe();
  if (!pipe) return {};
  const pid_t pid = ::fork();
  if (pid < 0) return {};
  if (pid == 0) {
    ::dup2(pipe->write_end.get(), 1);
    char* const environment[] = {nullptr};
    char* const argv[] = {const_cast<char*>(path.c_str()), const_cast<char*>("--version"), nullptr};
    ::execve(path.c_str(), argv, environment);
    ::_exit(127);
  }
  pipe->write_end.close();
  char buffer[128];
  const ssize_t count = ::read(pipe->read_end.get(), buffer, sizeof buffer);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (count <= 0 || status != 0) return {};
  const std::string line(buffer, static_cast<std::size_t>(count));
  return line.substr(0, line.find('\n'));
}

// --disable-userns and --assert-userns-disabled came with 0.8.0.
bool at_least_0_8(const std::string& version) {
  int major = 0;
  int minor = 0;
  return std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 && (major > 0 || minor >= 8);
}

// Why this cannot be the bubblewrap that its package installed; empty: nothing speaks against it.
std::string distrust_in(const std::string& path, const struct stat& info) {
  constexpr uid_t unmapped = 65534;  // root as a nested user namespace shows it
  if (info.st_uid != 0 && info.st_uid != unmapped)
    return "belongs to uid " + std::to_string(info.st_uid) + ", not to root; install it anew";
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "can be written by others than root; chmod go-w, and install it anew";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char magic[4] = {};
  if (!file || ::read(file.get(), magic, sizeof magic) != sizeof magic ||
      std::string_view(magic, sizeof magic) !=
          "\x7f"
          "ELF")
    return "is not bubblewrap but a script or something else; install the package 'bubblewrap'";
  return {};
}

void detect_bubblewrap(HostFacts& host) {
  const auto path = find_tool("bwrap");
  if (!path) {
    host.bubblewrap_problem = "bubblewrap is not installed; install the package 'bubblewrap'";
    return;
  }
  struct stat info {};
  if (::stat(path->c_str(), &info) == 0 && (info.st_mode & S_ISUID) != 0) {
    host.bubblewrap_problem = "'" + *path + "' is setuid root, which has been a way to root " +
                              "(CVE-2020-5291, CVE-2026-41163); remove the bit with chmod u-s";
    return;
  }
  if (const std::string distrust = distrust_in(*path, info); !distrust.empty()) {
    host.bubblewrap_problem = "'" + *path + "' " + distrust;
    return;
  }
  const std::string line = version_line(*path);
  const std::size_t space = line.rfind(' ');
  host.bubblewrap_version = space == std::string::npos ? line : line.substr(space + 1);
  if (!at_least_0_8(host.bubblewrap_version)) {
    host.bubblewrap_problem = "'" + *path + "' is version '" + host.bubblewrap_version +
                              "'; 0.8.0 or later is needed for --disable-userns";
    return;
  }
  host.bubblewrap = *path;
}

void detect_system_directories(HostFacts& host) {
  for (const char* name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
    const std::string path = std::string("/") + name;
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) host.system_directories.push_back(path);
    char target[PATH_MAX];
    const ssize_t size =
        S_ISLNK(info.st_mode) ? ::readlink(path.c_str(), target, sizeof target) : 0;
    if (size > 0)
      host.usr_links.emplace_back(path, std::string(target, static_cast<std::size_t>(size)));
  }
}

void append_matches(const char* pattern, std::vector<std::string>& paths) {
  glob_t found{};
  if (::glob(pattern, 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
}

// 0, or the errno of the attempt in a forked child. It answers through a pipe: its exit status is
// lost where the program around this library ignores SIGCHLD.
int try_user_namespace() {
  auto pipe = make_pipe();
  if (!pipe) return EMFILE;
  const pid_t pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) {
    // As a run would: a host can allow root what it forbids to others.
    if (::geteuid() == 0 &&
        (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0))
      ::_exit(1);
    const int error = ::unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
    const bool told = ::write(pipe->write_end.get(), &error, sizeof error) == sizeof error;
    ::_exit(told ? 0 : 1);
  }
  pipe->write_end.close();
  int error = 0;
  ssize_t count = 0;
  while ((count = ::read(pipe->read_end.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return count == sizeof error ? error : EIO;
}

void detect_user_namespaces(HostFacts& host) {
  const int error = try_user_namespace();
  host.user_namespaces = error == 0;
  if (host.user_namespaces) return;
  host.user_namespaces_problem =
      "user namespaces are not available (" + errno_text(error) +
      "): look at user.max_user_namespaces, kernel.unprivileged_userns_clone, " +
      "kernel.apparmor_restrict_unprivileged_userns, or a container's seccomp profile";
}

unsigned detect_landlock_abi() {
  constexpr unsigned ask_for_abi = 1;  // LANDLOCK_CREATE_RULESET_VERSION
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_for_abi);
  return abi < 0 ? 0 : static_cast<unsigned>(abi);
}

bool detect_seccomp() {
  constexpr std::uint32_t kill_process = SECCOMP_RET_KILL_PROCESS;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill_process) == 0;
}

}  // namespace

IsolationTools detect_isolation_tools() {
  return {.bubblewrap = find_tool("bwrap"), .firejail = find_tool("firejail")};
}

HostFacts detect_host() {
  HostFacts host;
  detect_bubblewrap(host);
  detect_system_directories(host);
  // alternatives: awk, cc and java are links through it. java-*: a JVM's own configuration.
  for (const char* pattern : {"/etc/alternatives", "/etc/ld.so.cache", "/etc/java-*"})
    append_matches(pattern, host.etc_binds);
  // What they tell is about the host or about other users' keys.
  for (const char* path :
       {"/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/config.gz", "/proc/iomem",
        "/proc/interrupts", "/proc/timer_list", "/proc/cmdline", "/proc/modules"})
    append_matches(path, host.proc_masks);
  if (auto bytes = read_file("/etc/localtime", localtime_bytes_max)) host.localtime = *bytes;
  if (auto bytes = read_file("/etc/resolv.conf", resolv_conf_bytes_max)) host.resolv_conf = *bytes;
  if (::access("/etc/ssl/certs", X_OK) == 0) host.certificates = "/etc/ssl/certs";
  host.uid = ::geteuid();
  host.gid = ::getegid();
  utsname names{};
  if (::uname(&names) == 0) host.kernel_release = names.release;
  host.landlock_abi = detect_landlock_abi();
  host.seccomp = detect_seccomp();
  detect_user_namespaces(host);
  return host;
}

}  // namespace paddock::kernel
