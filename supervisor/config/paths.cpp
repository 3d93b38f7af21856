#include "supervisor/config/paths.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "kernel/base/executable.hpp"

namespace paddock::supervisor {
namespace {

// A variable that holds an absolute path; XDG says to ignore any other.
std::string directory_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string home_directory() {
  const std::string home = directory_variable("HOME");
  return home.empty() ? "/" : home;
}

std::string own_config_directory() {
  const std::string config = directory_variable("XDG_CONFIG_HOME");
  return (config.empty() ? home_directory() + "/.config" : config) + "/paddock";
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

std::string default_runtime_directory() {
  if (::geteuid() == 0) return "/run/paddock";
  const std::string runtime = directory_variable("XDG_RUNTIME_DIR");
  return runtime.empty() ? default_state_directory() + "/run" : runtime + "/paddock";
}

std::string default_state_directory() {
  if (::geteuid() == 0) return "/var/lib/paddock";
  const std::string state = directory_variable("XDG_STATE_HOME");
  return state.empty() ? home_directory() + "/.local/state/paddock" : state + "/paddock";
}

std::vector<std::string> default_catalog_directories(const std::string& kind) {
  std::vector<std::string> directories = {kernel::executable_directory() + "/../share/paddock/" +
                                          kind};
  if (is_directory("/etc/paddock/" + kind)) directories.push_back("/etc/paddock/" + kind);
  if (::geteuid() == 0) return directories;
  const std::string own = own_config_directory() + "/" + kind;
  if (is_directory(own)) directories.push_back(own);
  return directories;
}

std::vector<std::string> default_access_files() {
  if (::geteuid() == 0) return {"/etc/paddock/access.toml"};
  return {own_config_directory() + "/access.toml", "/etc/paddock/access.toml"};
}

std::string main_socket_path(const std::string& runtime_directory) {
  return runtime_directory + "/paddock.sock";
}

std::string trainer_socket_path(const std::string& runtime_directory) {
  return runtime_directory + "/trainer.sock";
}

}  // namespace paddock::supervisor
