#include "kernel/base/fd.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

namespace paddock::kernel {

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe2");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

namespace {

Result<Fd> sealed_file(std::string_view name, std::string_view bytes, unsigned flags) {
  Fd fd(::memfd_create(std::string(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  if (!fd) return fail_needed_call("memfd_create");
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail_errno("write to a memory file");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return fail_errno("seal a memory file");
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

}  // namespace

Result<Fd> memory_file(std::string_view name, std::string_view bytes) {
  return sealed_file(name, bytes, 0);
}

Result<Fd> executable_memory_file(std::string_view name, std::string_view bytes) {
  // MFD_EXEC, from 6.3: says openly what older kernels take for granted (they answer EINVAL).
  constexpr unsigned mfd_exec = 0x10;
  auto fd = sealed_file(name, bytes, mfd_exec);
  return fd ? std::move(fd) : sealed_file(name, bytes, 0);
}

namespace {

Result<std::string> read_below(int directory, const std::string& path, std::size_t limit_bytes) {
  const Fd fd(::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno("open '" + path + "'");
  std::string bytes;
  char buffer[16384];
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("read '" + path + "'");
    if (count == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(count));
    if (bytes.size() > limit_bytes)
      return fail(ErrorCode::io,
                  "'" + path + "' is larger than " + std::to_string(limit_bytes) + " bytes");
  }
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit_bytes) {
  return read_below(AT_FDCWD, path, limit_bytes);
}

Result<std::string> read_file_at(const Fd& directory, const std::string& path,
                                 std::size_t limit_bytes) {
  return read_below(directory.get(), path, limit_bytes);
}

}  // namespace paddock::kernel
