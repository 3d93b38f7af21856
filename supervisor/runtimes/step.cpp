#include "supervisor/runtimes/step.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/confine/launcher.hpp"
#include "supervisor/runtimes/step_wire.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Fd;
using kernel::Result;

constexpr std::size_t part_bytes_max = 255;  // NAME_MAX
constexpr std::uint64_t page_bytes = 4096;

// Opened once: like the launcher it stays what it was when the daemon started.
Result<int> step_program() {
  static const Result<Fd> program = kernel::open_step_program();
  if (!program) return tl::unexpected<kernel::Error>(program.error());
  return program->get();
}

tl::unexpected<kernel::Error> wrong_name(const std::string& name, const char* why) {
  constexpr std::size_t shown_bytes_max = 100;
  return fail(ErrorCode::invalid_request,
              fmt::format("the file name '{}' {}", name.substr(0, shown_bytes_max), why));
}

// One that is a directory of another could not be made.
Result<void> check_names(const Files& files) {
  for (const auto& [name, contents] : files) {
    TRY_VOID(check_file_name(name));
    const auto inside = files.lower_bound(name + "/");
    if (inside != files.end() && inside->first.starts_with(name + "/"))
      return fail(ErrorCode::invalid_request,
                  fmt::format("'{}' is a file and the directory of '{}'", name, inside->first));
  }
  return {};
}

// What would not fit is refused here: in the run it would look like the program's fault.
Result<void> check_sizes(const Files& files, const kernel::SandboxPolicy& policy) {
  if (files.size() > files_max)
    return fail(ErrorCode::invalid_request,
                fmt::format("{} files, and at most {} go into a run", files.size(), files_max));
  std::uint64_t bytes = 0;
  std::uint64_t in_workspace = 0;
  for (const auto& [name, contents] : files) {
    if (policy.fsize_bytes && contents.size() > *policy.fsize_bytes)
      return fail(ErrorCode::sandbox_policy_error,
                  fmt::format("'{}' has {} bytes, and fsize_bytes is {}", name, contents.size(),
                              *policy.fsize_bytes));
    bytes += contents.size();
    in_workspace += (contents.size() + page_bytes - 1) / page_bytes * page_bytes;
  }
  if (bytes > file_bytes_max)
    return fail(ErrorCode::invalid_request,
                fmt::format("the files have {} bytes, and at most {} go into a run", bytes,
                            file_bytes_max));
  if (policy.use_bubblewrap && in_workspace > policy.workspace_bytes)
    return fail(ErrorCode::sandbox_policy_error,
                fmt::format("the files take {} bytes, and workspace_bytes is {}", in_workspace,
                            policy.workspace_bytes));
  return {};
}

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string encode(const Files& files, const std::vector<std::string>& wanted,
                   bool is_trial = false) {
  std::string entries;
  for (const auto& [name, contents] : files) {
    append(entries, StepEntry{.name_bytes = name.size(), .content_bytes = contents.size()});
    entries += name;
    entries += contents;
  }
  for (const std::string& name : wanted) {
    append(entries, StepEntry{.name_bytes = name.size(), .content_bytes = 0});
    entries += name;
  }
  StepHeader header{.file_count = files.size(),
                    .wanted_count = wanted.size(),
                    .is_trial = is_trial ? std::uint64_t{1} : 0};
  if (!wanted.empty()) {
    header.out_offset = sizeof header + entries.size();
    header.out_bytes = artifact_bytes_max;
  }
  std::string bytes;
  bytes.reserve(sizeof header + entries.size());
  append(bytes, header);
  return bytes += entries;
}

// `bytes`, and room behind them that the run may write. Neither can grow or shrink.
Result<Fd> writable_file(std::string_view bytes, std::size_t room_bytes) {
  Fd fd(::memfd_create("paddock-step-files", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return kernel::fail_needed_call("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes.size() + room_bytes)) != 0)
    return kernel::fail_errno("make room in a memory file");
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written =
        ::pwrite(fd.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return kernel::fail_errno("write to a memory file");
    done += static_cast<std::size_t>(written);
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return kernel::fail_errno("seal a memory file");
  return fd;
}

bool read_at(const Fd& fd, std::uint64_t offset, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t count = ::pread(fd.get(), to, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to += count;
    offset += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

Result<void> begin_with_step(const std::vector<std::string>& command, Fd channel,
                             std::size_t channel_bytes, ResolvedRun& run) {
  run.program = TRY(step_program());
  run.argv = {kernel::program_path};
  run.argv.insert(run.argv.end(), command.begin(), command.end());
  run.channel_bytes = channel_bytes;
  run.channel = std::make_shared<Fd>(std::move(channel));
  return {};
}

}  // namespace

Result<void> check_file_name(const std::string& name) {
  if (name.empty()) return wrong_name(name, "is empty");
  if (name.find('\0') != std::string::npos) return wrong_name(name.c_str(), "has a NUL in it");
  if (name.size() > step_name_bytes_max) return wrong_name(name, "is too long");
  if (name.front() == '/') return wrong_name(name, "is not relative");
  std::string_view rest = name;
  while (true) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part.empty()) return wrong_name(name, "has an empty part");
    if (part == "." || part == "..") return wrong_name(name, "has '.' or '..' as a part");
    if (part.size() > part_bytes_max) return wrong_name(name, "has a part that is too long");
    if (part.size() == rest.size()) return {};
    rest.remove_prefix(part.size() + 1);
  }
}

Result<void> prepare_step(const std::vector<std::string>& command, const Files& files,
                          const std::vector<std::string>& wanted, ResolvedRun& run) {
  if (command.empty() || command.front().empty())
    return fail(ErrorCode::invalid_request, "the command names no program");
  TRY_VOID(check_names(files));
  TRY_VOID(check_sizes(files, run.policy));
  if (wanted.size() > files_max)
    return fail(ErrorCode::invalid_request,
                fmt::format("{} files wanted, and at most {} come out", wanted.size(), files_max));
  for (const std::string& name : wanted) TRY_VOID(check_file_name(name));

  const std::string bytes = encode(files, wanted);
  Fd channel = wanted.empty() ? TRY(kernel::memory_file("paddock-step-files", bytes))
                              : TRY(writable_file(bytes, artifact_bytes_max));
  return begin_with_step(command, std::move(channel), bytes.size(), run);
}

Result<void> prepare_trial(const std::vector<std::string>& programs, const Files& files,
                           ResolvedRun& run) {
  TRY_VOID(check_names(files));
  TRY_VOID(check_sizes(files, run.policy));
  const std::string bytes = encode(files, {}, /*is_trial=*/true);
  Fd channel = TRY(kernel::memory_file("paddock-step-files", bytes));
  return begin_with_step(programs, std::move(channel), bytes.size(), run);
}

bool is_of_host(const std::string& program) {
  return program.starts_with('/') || program.find('/') == std::string::npos;
}

// Nothing in the file is believed, only its size: it can neither grow nor shrink. Each byte of it
// is read once at most.
Files collect_files(const Fd& channel, const std::vector<std::string>& wanted) {
  Files files;
  struct stat status {};
  if (::fstat(channel.get(), &status) != 0) return files;
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  if (size < artifact_bytes_max) return files;
  std::uint64_t offset = size - artifact_bytes_max;
  for (const std::string& name : wanted) {
    std::uint64_t word = 0;
    if (size - offset < sizeof word) break;
    if (!read_at(channel, offset, reinterpret_cast<char*>(&word), sizeof word)) break;
    offset += sizeof word;
    if (word == 0) continue;
    const std::uint64_t bytes = word - 1;
    if (bytes > size - offset) break;
    std::string contents(bytes, '\0');
    if (!read_at(channel, offset, contents.data(), contents.size())) break;
    offset += bytes;
    files.insert_or_assign(name, std::move(contents));
  }
  return files;
}

}  // namespace paddock::supervisor
