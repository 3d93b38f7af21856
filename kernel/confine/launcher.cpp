#include "kernel/confine/launcher.hpp"

#include <unistd.h>

#include <string>

#include "kernel/base/executable.hpp"

namespace paddock::kernel {
namespace {

constexpr std::size_t launcher_bytes_max = 32u << 20;

}  // namespace

Result<Fd> open_launcher() {
  const std::string here = executable_directory();
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
