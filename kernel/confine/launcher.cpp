#include "kernel/confine/launcher.hpp"

#include <unistd.h>

#include <climits>
#include <string>

namespace paddock::kernel {
namespace {

constexpr std::size_t launcher_bytes_max = 32u << 20;

std::string directory_of_this_executable() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) return ".";
  const std::string executable(path, static_cast<std::size_t>(size));
  return executable.substr(0, executable.rfind('/'));
}

}  // namespace

Result<Fd> open_launcher() {
  const std::string here = directory_of_this_executable();
  const std::string candidates[] = {here + "/paddock-launch",
                                    here + "/../libexec/paddock/paddock-launch"};
  for (const std::string& path : candidates) {
    if (::access(path.c_str(), X_OK) != 0) continue;
    return executable_memory_file("paddock-launch", TRY(read_file(path, launcher_bytes_max)));
  }
  return fail(ErrorCode::internal, "paddock-launch is neither at '" + candidates[0] + "' nor at '" +
                                       candidates[1] + "'; is paddock installed completely?");
}

}  // namespace paddock::kernel
