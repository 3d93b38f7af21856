#include "supervisor/config/paths.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

// Sets a variable, or removes it, for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~Variable() { before_.empty() ? ::unsetenv(name_) : ::setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

}  // namespace

TEST_CASE("root's directories are the system's, an ordinary user's are the XDG ones") {
  const Variable runtime("XDG_RUNTIME_DIR", "/run/user/7");
  const Variable state("XDG_STATE_HOME", "/home/x/state");
  if (::geteuid() == 0) {
    CHECK(default_runtime_directory() == "/run/paddock");
    CHECK(default_state_directory() == "/var/lib/paddock");
    return;
  }
  CHECK(default_runtime_directory() == "/run/user/7/paddock");
  CHECK(default_state_directory() == "/home/x/state/paddock");
  const Variable home("HOME", "/home/x");
  for (const char* unusable : {"", "relative"}) {
    const Variable no_runtime("XDG_RUNTIME_DIR", unusable);
    const Variable no_state("XDG_STATE_HOME", unusable);
    CHECK(default_runtime_directory() == "/home/x/.local/state/paddock/run");
    CHECK(default_state_directory() == "/home/x/.local/state/paddock");
  }
}

TEST_CASE("the shipped catalog is found beside the program, and only what exists follows it") {
  const Variable config("XDG_CONFIG_HOME", "/no/such/directory");
  const auto directories = default_catalog_directories("profiles");
  REQUIRE_FALSE(directories.empty());
  const std::string bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  CHECK(directories.front() == bin + "/../share/paddock/profiles");
  for (std::size_t i = 1; i < directories.size(); ++i)
    CHECK(std::filesystem::is_directory(directories[i]));
}

TEST_CASE("sockets have fixed names in the runtime directory") {
  CHECK(main_socket_path("/run/paddock") == "/run/paddock/paddock.sock");
  CHECK(trainer_socket_path("/run/paddock") == "/run/paddock/trainer.sock");
}
