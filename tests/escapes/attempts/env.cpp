// What a run could have inherited: variables, descriptors, the working directory, signals, limits.
// The runner has all of it set badly on purpose.

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "escapes/attempts/tools.hpp"

namespace paddock::escapes {
namespace {

Outcome has_variable(const char* name) {
  return std::getenv(name) == nullptr ? refused(ENOENT) : succeeded();
}

Outcome has_descriptor_above_stderr(const Arguments&) {
  for (int fd = 3; fd < 1024; ++fd)
    if (::fcntl(fd, F_GETFD) >= 0) return succeeded("fd " + std::to_string(fd));
  return refused(EBADF);
}

Outcome read_inherited_file(const Arguments& arguments) {
  char byte = 0;
  return succeeded_if(::pread(arguments.number("fd"), &byte, 1, 0) == 1);
}

Outcome make_file_open_to_all(const Arguments&) {
  const int fd = ::open("paddock-escape-umask", O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  struct stat info {};
  ::fstat(fd, &info);
  ::unlink("paddock-escape-umask");
  return (info.st_mode & 022) != 0 ? succeeded() : refused(EACCES, "others cannot write it");
}

Outcome keep_ignored_signal(const Arguments&) {
  struct sigaction action {};
  ::sigaction(SIGUSR1, nullptr, &action);
  return action.sa_handler == SIG_IGN ? succeeded() : refused_as("reset");
}

Outcome keep_blocked_signal(const Arguments&) {
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, SIGUSR2) == 1 ? succeeded() : refused_as("reset");
}

Outcome start_in(const std::string& directory) {
  char path[4096] = {};
  if (::getcwd(path, sizeof path) == nullptr) return refused();
  return directory == path ? succeeded() : refused(ENOENT, "elsewhere");
}

Outcome know_host_name(const Arguments& arguments) {
  utsname names{};
  ::uname(&names);
  return arguments.text("hostname") == names.nodename ? succeeded() : refused(ENOENT);
}

Outcome stay_in_session(const Arguments& arguments) {
  return ::getsid(0) == arguments.number("session") ? succeeded() : refused_as("reset");
}

Outcome is_unlimited(__rlimit_resource_t resource) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  return limit.rlim_max == RLIM_INFINITY ? succeeded() : refused(EPERM, "limited");
}

Outcome have_terminal(const Arguments&) {
  return opens("/dev/tty", O_RDWR | O_NOCTTY);
}

}  // namespace

Attempts env_attempts() {
  using A = const Arguments&;
  return {
      {"env_secrets_absent", [](A) { return has_variable("PADDOCK_ESCAPES_SECRET"); }},
      {"env_ld_preload_from_host", [](A) { return has_variable("LD_LIBRARY_PATH"); }},
      {"env_proxy_vars", [](A) { return has_variable("HTTPS_PROXY"); }},
      {"env_python_path", [](A) { return has_variable("PYTHONPATH"); }},
      {"env_runtime_dir", [](A) { return has_variable("XDG_RUNTIME_DIR"); }},
      {"env_path_fixed",
       [](A a) {
         const char* path = std::getenv("PATH");
         const bool kept = path != nullptr && a.text("path") == path;
         return kept ? succeeded() : refused(ENOENT);
       }},
      {"env_inherited_fd", read_inherited_file},
      {"env_fd_table_exact", has_descriptor_above_stderr},
      {"env_umask", make_file_open_to_all},
      {"env_signal_ignored", keep_ignored_signal},
      {"env_signal_blocked", keep_blocked_signal},
      {"env_cwd", [](A a) { return start_in(a.text("cwd")); }},
      {"env_hostname", know_host_name},
      {"env_session", stay_in_session},
      {"env_terminal", have_terminal},
      {"env_rlimit_cpu", [](A) { return is_unlimited(RLIMIT_CPU); }},
      {"env_rlimit_as", [](A) { return is_unlimited(RLIMIT_AS); }},
      {"env_rlimit_fsize", [](A) { return is_unlimited(RLIMIT_FSIZE); }},
      {"env_rlimit_core", [](A) { return is_unlimited(RLIMIT_CORE); }},
  };
}

}  // namespace paddock::escapes
