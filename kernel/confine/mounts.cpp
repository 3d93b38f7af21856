#include "kernel/confine/mounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "kernel/confine/bubblewrap.hpp"
#include "kernel/policy/paths.hpp"
#include "kernel/policy/units.hpp"

namespace paddock::kernel {
namespace {

// What bubblewrap's --proc and --dev bring: device nodes, terminals of its own, and a /proc whose
// dangerous parts are read-only mounts themselves.
constexpr std::array<std::string_view, 10> always_writable = {
    "/proc",       "/dev/pts",     "/dev/null", "/dev/zero",    "/dev/full",
    "/dev/random", "/dev/urandom", "/dev/tty",  "/dev/console", "/dev/ptmx"};

// What --proc covers with read-only mounts of itself.
constexpr std::array<std::string_view, 4> parts_of_proc = {"/proc/sys", "/proc/sysrq-trigger",
                                                           "/proc/irq", "/proc/bus"};

// The kernel rounds a tmpfs up to whole pages, which are 64 KiB on some machines.
constexpr std::uint64_t page_bytes_max = 64 * 1024;

bool contains(std::string_view list, std::string_view word) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

// mountinfo writes blank, tab, newline and backslash as three octal digits.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      int byte = 0;
      std::from_chars(text.data() + i + 1, text.data() + i + 4, byte, 8);
      out += static_cast<char>(byte);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// What comes before the next `end`; it and the end are taken off the front of `text`.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return taken;
}

// "size=65536k" among the options of the file system.
std::optional<std::uint64_t> size_in(std::string_view options) {
  const std::size_t at = options.find("size=");
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t kib = 0;
  const char* const end = options.data() + options.size();
  const auto parsed = std::from_chars(options.data() + at + 5, end, kib);
  if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != 'k') return std::nullopt;
  return kib * 1024;
}

const Mount* top_mount(const std::vector<Mount>& mounts, const std::string& path) {
  const auto found = std::find_if(mounts.rbegin(), mounts.rend(),
                                  [&](const Mount& mount) { return mount.path == path; });
  return found == mounts.rend() ? nullptr : &*found;
}

bool same_size(const Mount& planned, const Mount& seen) {
  if (!planned.size_bytes) return true;
  return seen.size_bytes && *seen.size_bytes >= *planned.size_bytes &&
         *seen.size_bytes < *planned.size_bytes + page_bytes_max;
}

bool may_be_writable(const Mount& seen, const std::vector<Mount>& planned) {
  if (is_device_mount(seen)) return true;
  // A bound directory brings the mounts below it.
  return std::any_of(planned.begin(), planned.end(), [&](const Mount& mount) {
    return mount.writable &&
           (mount.size_bytes ? seen.path == mount.path : is_at_or_below(seen.path, mount.path));
  });
}

bool is_expected(const Mount& seen, const std::vector<Mount>& planned,
                 const std::vector<Mount>& on_host) {
  if (top_mount(planned, seen.path) != nullptr || is_device_mount(seen)) return true;
  if (std::find(parts_of_proc.begin(), parts_of_proc.end(), seen.path) != parts_of_proc.end())
    return true;
  // A bound directory brings the mounts below it.
  return top_mount(on_host, seen.path) != nullptr &&
         std::any_of(planned.begin(), planned.end(), [&](const Mount& mount) {
           return !mount.size_bytes && mount.path != "/" && mount.path != "/dev" &&
                  is_at_or_below(seen.path, mount.path);
         });
}

}  // namespace

std::vector<Mount> planned_mounts(const SandboxPolicy& policy, const HostFacts& host) {
  std::vector<Mount> mounts;
  if (!policy.use_bubblewrap) return mounts;
  const auto read_only = [&](const std::string& path) { mounts.push_back({path, false, {}}); };
  const auto tmpfs = [&](const std::string& path, std::uint64_t size) {
    mounts.push_back({path, true, size});
  };
  read_only("/");
  for (const auto* paths :
       {&policy.bind_ro, &host.system_directories, &host.etc_binds, &host.proc_masks})
    std::for_each(paths->begin(), paths->end(), read_only);
  if (!policy.deny_network && !host.certificates.empty()) read_only(host.certificates);
  read_only("/dev");
  for (const char* path : {"/dev/shm", "/tmp", sandbox_home}) tmpfs(path, policy.tmp_bytes);
  if (policy.workspace.empty()) {
    tmpfs(sandbox_workspace, policy.workspace_bytes);
  } else {
    mounts.push_back({sandbox_workspace, true, {}});
  }
  if (var_tmp_is_tmpfs(policy)) tmpfs("/var/tmp", policy.tmp_bytes);
  for (const std::string& path : policy.bind_rw) mounts.push_back({path, true, {}});
  return mounts;
}

// id parent major:minor root path options [tags...] - type source super-options
std::vector<Mount> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    for (int skipped = 0; skipped < 4; ++skipped) take_until(line, ' ');
    const std::string_view path = take_until(line, ' ');
    const std::string_view options = take_until(line, ' ');
    while (!line.empty() && take_until(line, ' ') != "-") {
    }
    const std::string_view type = take_until(line, ' ');
    take_until(line, ' ');
    const std::string_view super_options = take_until(line, ' ');
    const bool writable = !contains(options, "ro") && !contains(super_options, "ro");
    mounts.push_back(
        {unescaped(path), writable, type == "tmpfs" ? size_in(super_options) : std::nullopt});
  }
  return mounts;
}

std::vector<std::string> mount_differences(const std::vector<Mount>& planned,
                                           const std::vector<Mount>& seen,
                                           const std::vector<Mount>& on_host) {
  std::vector<std::string> differences;
  if (planned.empty()) return differences;
  for (const Mount& mount : planned) {
    const Mount* const found = top_mount(seen, mount.path);
    if (found == nullptr) {
      differences.push_back(fmt::format("nothing is mounted at '{}'", mount.path));
    } else if (found->writable != mount.writable || !same_size(mount, *found)) {
      differences.push_back(
          fmt::format("the mount is '{}', planned '{}'", to_string(*found), to_string(mount)));
    }
  }
  for (const Mount& mount : seen) {
    if (!is_expected(mount, planned, on_host))
      differences.push_back(fmt::format("'{}' is mounted, which is not planned", mount.path));
    if (mount.writable && top_mount(seen, mount.path) == &mount && !may_be_writable(mount, planned))
      differences.push_back(fmt::format("'{}' can be written, which is not planned", mount.path));
  }
  return differences;
}

bool is_device_mount(const Mount& mount) {
  return std::find(always_writable.begin(), always_writable.end(), mount.path) !=
         always_writable.end();
}

std::string to_string(const Mount& mount) {
  std::string text = (mount.writable ? "rw " : "ro ") + mount.path;
  if (mount.size_bytes && mount.writable) text += " " + format_bytes(*mount.size_bytes);
  return text;
}

}  // namespace paddock::kernel
