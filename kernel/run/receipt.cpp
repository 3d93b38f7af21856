#include "kernel/run/receipt.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <filesystem>
#include <sstream>

#include "kernel/base/fd.hpp"
#include "kernel/base/process_tree.hpp"
#include "kernel/confine/rlimits.hpp"

namespace paddock::kernel {
namespace {

constexpr std::size_t proc_file_bytes_max = 64 * 1024;
constexpr std::size_t mountinfo_bytes_max = 4 * 1024 * 1024;  // a host of many containers
constexpr std::array namespaces = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};

// The rest of the line that begins with `key`, without blanks around it.
std::string field(const std::string& text, const std::string& key) {
  std::size_t begin = text.starts_with(key) ? 0 : text.find("\n" + key);
  if (begin == std::string::npos) return {};
  if (text[begin] == '\n') ++begin;
  begin += key.size();
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string::npos ? "" : line.substr(first);
}

// "soft" if both values are the same, else "soft/hard": a soft limit below the hard one is no
// limit.
std::string limit_of(const std::string& limits, const RlimitRow& row) {
  std::istringstream words(field(limits, row.proc_name));
  std::string soft;
  std::string hard;
  words >> soft >> hard;
  return soft == hard ? soft : soft + "/" + hard;
}

std::uint64_t hex_of(const std::string& status, const std::string& key) {
  const std::string hex = field(status, key);
  std::uint64_t bits = ~std::uint64_t{0};  // what cannot be read is not zero
  std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  return bits;
}

std::string hex_text(std::uint64_t bits) {
  return fmt::format("{:016x}", bits);
}

// Every capability that the process has, could raise, or would pass on: the union of four sets. The
// fifth, the bounding set, gives nothing under no_new_privs.
std::string capabilities_of(const std::string& status) {
  std::uint64_t all = 0;
  for (const char* set : {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"}) all |= hex_of(status, set);
  return hex_text(all);
}

std::string link_target(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return size < 0 ? std::string() : std::string(target, static_cast<std::size_t>(size));
}

// The four ids of a "Uid:" or "Gid:" line, which must be one.
Result<unsigned> only_id(const std::string& status, const std::string& key) {
  std::istringstream words(field(status, key));
  unsigned real = 0;
  unsigned effective = 0;
  unsigned saved = 0;
  unsigned of_files = 0;
  words >> real >> effective >> saved >> of_files;
  if (!words || effective != real || saved != real || of_files != real)
    return fail(ErrorCode::io, "the process has several ids: " + key + " " + field(status, key));
  return real;
}

unsigned filters_of(const std::string& status) {
  const std::string count = field(status, "Seccomp_filters:");
  unsigned filters = 0;
  std::from_chars(count.data(), count.data() + count.size(), filters);
  return filters;
}

Result<std::string> one_line(const std::string& path) {
  const std::string text = TRY(read_file(path, proc_file_bytes_max));
  return text.substr(0, text.find('\n'));
}

// Those without close-on-exec.
Result<std::vector<int>> inherited_descriptors(const std::string& proc) {
  std::vector<int> descriptors;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(proc + "fdinfo", error)) {
    const std::string text = TRY(read_file(entry.path().string(), proc_file_bytes_max));
    const std::string octal = field(text, "flags:");
    unsigned flags = 0;
    std::from_chars(octal.data(), octal.data() + octal.size(), flags, 8);
    if ((flags & O_CLOEXEC) == 0) descriptors.push_back(std::stoi(entry.path().filename()));
  }
  if (error) return fail(ErrorCode::io, "read '" + proc + "fdinfo': " + error.message());
  std::sort(descriptors.begin(), descriptors.end());
  return descriptors;
}

}  // namespace

bool Receipt::has_own_mounts() const {
  return std::find(new_namespaces.begin(), new_namespaces.end(), "mnt") != new_namespaces.end();
}

Result<Receipt> observe(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid) + "/";
  const std::string status = TRY(read_file(proc + "status", proc_file_bytes_max));
  const std::string limits = TRY(read_file(proc + "limits", proc_file_bytes_max));
  const std::string cgroups = TRY(read_file(proc + "cgroup", proc_file_bytes_max));

  Receipt receipt;
  receipt.pid = pid;
  receipt.host_uid = TRY(only_id(status, "Uid:"));
  receipt.host_gid = TRY(only_id(status, "Gid:"));
  receipt.groups = field(status, "Groups:");
  receipt.no_new_privs = field(status, "NoNewPrivs:") == "1";
  receipt.capabilities = capabilities_of(status);
  receipt.bounding_set = hex_text(hex_of(status, "CapBnd:"));
  receipt.umask = field(status, "Umask:");
  receipt.signals_held_back = hex_text(hex_of(status, "SigBlk:") | hex_of(status, "SigIgn:"));
  receipt.oom_score_adj = TRY(one_line(proc + "oom_score_adj"));
  const auto stat = stat_of(pid);
  receipt.leads_session = stat && stat->session == pid;
  // A supervisor in a container has filters of its own, which every run inherits.
  const std::string own_status = TRY(read_file("/proc/self/status", proc_file_bytes_max));
  receipt.filters = filters_of(status) - std::min(filters_of(status), filters_of(own_status));
  receipt.mounts = parse_mountinfo(TRY(read_file(proc + "mountinfo", mountinfo_bytes_max)));
  receipt.descriptors = TRY(inherited_descriptors(proc));
  receipt.cgroup = field(cgroups, "0::");
  for (const RlimitRow& row : rlimit_rows) receipt.rlimits[row.name] = limit_of(limits, row);
  for (std::size_t i = 0; i < namespaces.size(); ++i) {
    const std::string path = proc + "ns/" + namespaces[i];
    const std::string theirs = link_target(path);
    if (theirs.empty()) return fail_errno("read '" + path + "'");
    // Ours anew each time: a program around this library may have moved to others since.
    if (theirs != link_target(std::string("/proc/self/ns/") + namespaces[i]))
      receipt.new_namespaces.emplace_back(namespaces[i]);
  }
  receipt.program = link_target(proc + "exe");
  return receipt;
}

// The kernel gives the files of a process that is not dumpable to root, and whoever may trace it is
// asked the same question. What is gone is not known to be safe.
bool is_traceable(pid_t pid) {
  struct stat files {};
  const std::string proc = "/proc/" + std::to_string(pid) + "/";
  const auto status = read_file(proc + "status", proc_file_bytes_max);
  if (!status || ::stat((proc + "environ").c_str(), &files) != 0) return true;
  const auto uid = only_id(*status, "Uid:");
  return !uid || files.st_uid == *uid;
}

}  // namespace paddock::kernel
