#include "kernel/confine/launcher.hpp"

#include <unistd.h>

#include <string>

#include "kernel/base/executable.hpp"

namespace paddock::kernel {
namespace {

constexpr std::size_t program_bytes_max = 32u << 20;

Result<std::string> read_companion(const std::string& name) {
  const std::string here = executable_directory();
  const std::string candidates[] = {here + "/" + name, here + "/../libexec/paddock/" + name};
  for (const std::string& path : candidates)
    if (::access(path.c_str(), R_OK) == 0) return read_file(path, program_bytes_max);
  return fail(ErrorCode::internal, name + " is neither at '" + candidates[0] + "' nor at '" +
                                       candidates[1] + "'; is paddock installed completely?");
}

Result<Fd> open_companion(const std::string& name) {
  return executable_memory_file(name, TRY(read_companion(name)));
}

}  // namespace

Result<std::string> read_warm_library() {
  return read_companion("paddock-warm.so");
}

Result<Fd> open_launcher() {
  return open_companion("paddock-launch");
}

Result<Fd> open_prober() {
  return open_companion("paddock-probe");
}

Result<Fd> open_step_program() {
  return open_companion("paddock-step");
}

}  // namespace paddock::kernel
