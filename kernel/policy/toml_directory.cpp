#include "kernel/policy/toml_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include <fmt/format.h>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// Who can change a profile can loosen it. Empty if that is root or this process's user alone.
std::string trust_mistake(const struct stat& status) {
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return fmt::format("belongs to uid {}, neither to root nor to this process's user",
                       status.st_uid);
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fmt::format("may be written by others than its owner (mode {:04o}); chmod go-w it",
                       status.st_mode & 07777);
  }
  return {};
}

Result<std::string> read_all(const Fd& fd) {
  std::string text;
  char buffer[16 * 1024];
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(ErrorCode::io, "cannot be read: " + errno_text(errno));
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > toml_file_bytes_max) {
      return fail(ErrorCode::io, fmt::format("is larger than {} bytes", toml_file_bytes_max));
    }
  }
}

Result<std::string> read_trusted_file_at(int directory, const std::string& name) {
  // O_NONBLOCK: opening a FIFO that somebody put there must not wait for its other end.
  const Fd fd(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return fail(ErrorCode::io, "cannot be opened: " + errno_text(errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return fail(ErrorCode::io, "cannot be looked at: " + errno_text(errno));
  }
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::io, "is not a regular file");
  if (std::string mistake = trust_mistake(status); !mistake.empty()) {
    return fail(ErrorCode::io, std::move(mistake));
  }
  return read_all(fd);
}

// `access`: O_RDONLY, or O_PATH for one whose names need not be read.
Result<Fd> open_trusted(const std::string& path, int access) {
  Fd fd(::open(path.c_str(), access | O_CLOEXEC | O_DIRECTORY));
  if (!fd) return fail(ErrorCode::io, "directory cannot be opened: " + errno_text(errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return fail(ErrorCode::io, "directory cannot be looked at: " + errno_text(errno));
  }
  if (const std::string mistake = trust_mistake(status); !mistake.empty()) {
    return fail(ErrorCode::io, "directory " + mistake);
  }
  return fd;
}

Result<Directory> open_trusted_directory(const std::string& path) {
  Fd fd = TRY(open_trusted(path, O_RDONLY));
  Directory directory(::fdopendir(fd.get()));
  if (!directory) return fail(ErrorCode::io, "directory cannot be read: " + errno_text(errno));
  fd.release();  // closedir closes it
  return directory;
}

Result<std::vector<std::string>> toml_names(DIR* directory) {
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(directory);
    if (entry == nullptr && errno != 0) {
      return fail(ErrorCode::io, "directory cannot be read: " + errno_text(errno));
    }
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.ends_with(".toml") && !name.starts_with('.')) names.emplace_back(name);
    if (names.size() > toml_files_max) {
      return fail(ErrorCode::io, fmt::format("directory holds more than {} files", toml_files_max));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<TomlFile> read_toml_directory(const std::string& directory,
                                          std::vector<Diagnostic>& diagnostics) {
  const auto report = [&](const std::string& file, const std::string& message) {
    diagnostics.push_back({file, 0, 0, message});
  };
  std::vector<TomlFile> files;
  const Result<Directory> opened = open_trusted_directory(directory);
  if (!opened) {
    report(directory, opened.error().message);
    return files;
  }
  const auto names = toml_names(opened->get());
  if (!names) {
    report(directory, names.error().message);
    return files;
  }
  for (const std::string& name : *names) {
    const std::string file =
        fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
    auto text = read_trusted_file_at(::dirfd(opened->get()), name);
    if (text) {
      files.push_back({file, std::move(*text)});
    } else {
      report(file, text.error().message);
    }
  }
  return files;
}

Result<std::string> read_trusted_file(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Fd opened = TRY(open_trusted(directory, O_PATH));
  return read_trusted_file_at(opened.get(),
                              slash == std::string::npos ? path : path.substr(slash + 1));
}

}  // namespace paddock::kernel
