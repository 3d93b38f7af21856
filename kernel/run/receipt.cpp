#include "kernel/run/receipt.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <memory>
#include <string_view>
#include <utility>

#include "kernel/base/fd.hpp"
#include "kernel/confine/launch_wire.hpp"
#include "kernel/confine/own_mounts.hpp"
#include "kernel/confine/rlimits.hpp"

namespace paddock::kernel {
namespace {

constexpr std::size_t receipt_file_bytes_max = 64 * 1024;

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

// The first word; it and the blanks around it are taken off the front of `text`.
std::string_view take_word(std::string_view& text) {
  constexpr std::string_view blanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

// "soft" if both values are the same, else "soft/hard": a soft limit below the hard one is no
// limit.
std::string limit_of(const std::string& limits, const RlimitRow& row) {
  const std::string line = field(limits, row.proc_name);
  std::string_view words = line;
  const std::string soft(take_word(words));
  const std::string hard(take_word(words));
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

// The four ids of a "Uid:" or "Gid:" line, which must be one.
Result<unsigned> only_id(const std::string& status, const std::string& key) {
  const std::string line = field(status, key);
  std::string_view words = line;
  const std::string_view real = take_word(words);
  unsigned id = 0;
  const auto parsed = std::from_chars(real.data(), real.data() + real.size(), id);
  bool alike = parsed.ec == std::errc() && parsed.ptr == real.data() + real.size();
  for (int others = 0; others < 3; ++others) alike = take_word(words) == real && alike;
  if (!alike) return fail(ErrorCode::io, "the process has several ids: " + key + " " + line);
  return id;
}

unsigned filters_of(const std::string& status) {
  const std::string count = field(status, "Seccomp_filters:");
  unsigned filters = 0;
  std::from_chars(count.data(), count.data() + count.size(), filters);
  return filters;
}

// /proc/PID, opened once: all that is read through it is of one process, whoever gets its pid next.
class ProcDirectory {
 public:
  static Result<ProcDirectory> open(const std::string& path) {
    Fd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return fail_errno("open '" + path + "'");
    return ProcDirectory(std::move(fd));
  }
  Result<std::string> read(const std::string& name,
                           std::size_t bytes_max = receipt_file_bytes_max) {
    return read_file_at(directory_, name, bytes_max);
  }
  // Empty if it cannot be read.
  std::string link(const char* name) const {
    char target[PATH_MAX];
    const ssize_t size = ::readlinkat(directory_.get(), name, target, sizeof target);
    return size < 0 ? std::string() : std::string(target, static_cast<std::size_t>(size));
  }
  Result<std::vector<int>> descriptors() const;

 private:
  explicit ProcDirectory(Fd directory) : directory_(std::move(directory)) {}

  Fd directory_;
};

// The numbers of all open descriptors.
Result<std::vector<int>> ProcDirectory::descriptors() const {
  Fd fd(::openat(directory_.get(), "fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fd ? ::fdopendir(fd.get()) : nullptr,
                                                    &::closedir);
  if (!listing) return fail_errno("read 'fdinfo' of a process");
  fd.release();  // the listing's from now on
  std::vector<int> numbers;
  errno = 0;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    int number = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec == std::errc()) numbers.push_back(number);  // not "." and ".."
  }
  if (errno != 0) return fail_errno("read 'fdinfo' of a process");
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// A supervisor in a container has filters of its own, which every run inherits. To ask whether
// there are any is much cheaper than to count them.
Result<unsigned> own_filters(ProcDirectory& own) {
  if (::prctl(PR_GET_SECCOMP) == SECCOMP_MODE_DISABLED) return 0;
  return filters_of(TRY(own.read("status")));
}

// Those without close-on-exec.
Result<std::vector<int>> inherited_descriptors(ProcDirectory& proc) {
  std::vector<int> inherited;
  for (const int number : TRY(proc.descriptors())) {
    const std::string text = TRY(proc.read("fdinfo/" + std::to_string(number)));
    const std::string octal = field(text, "flags:");
    unsigned flags = 0;
    std::from_chars(octal.data(), octal.data() + octal.size(), flags, 8);
    if ((flags & O_CLOEXEC) == 0) inherited.push_back(number);
  }
  return inherited;
}

}  // namespace

bool Receipt::has_own_mounts() const {
  return std::find(new_namespaces.begin(), new_namespaces.end(), "mnt") != new_namespaces.end();
}

Result<Receipt> observe(pid_t pid) {
  ProcDirectory proc = TRY(ProcDirectory::open("/proc/" + std::to_string(pid)));
  // Ours anew each time: a program around this library may have moved to others since.
  ProcDirectory own = TRY(ProcDirectory::open("/proc/self"));
  const std::string status = TRY(proc.read("status"));
  const std::string limits = TRY(proc.read("limits"));
  const std::string cgroups = TRY(proc.read("cgroup"));

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
  const std::string oom = TRY(proc.read("oom_score_adj"));
  receipt.oom_score_adj = oom.substr(0, oom.find('\n'));
  const pid_t session = ::getsid(pid);
  if (session < 0) return fail_errno("ask for the session of the process");
  receipt.leads_session = session == pid;
  const unsigned filters = filters_of(status);
  receipt.filters = filters - std::min(filters, TRY(own_filters(own)));
  receipt.mounts = parse_mountinfo(TRY(proc.read("mountinfo", mountinfo_bytes_max)));
  receipt.descriptors = TRY(inherited_descriptors(proc));
  receipt.cgroup = field(cgroups, "0::");
  for (const RlimitRow& row : rlimit_rows) receipt.rlimits[row.name] = limit_of(limits, row);
  for (const char* name : namespace_names) {
    const std::string path = std::string("ns/") + name;
    const std::string theirs = proc.link(path.c_str());
    if (theirs.empty()) return fail_errno("read '" + path + "' of a process");
    if (theirs != own.link(path.c_str())) receipt.new_namespaces.emplace_back(name);
    receipt.namespaces[name] = theirs;
  }
  if (receipt.has_own_mounts()) receipt.mounts_on_host = TRY(own_mounts());
  receipt.program = proc.link("exe");
  return receipt;
}

// The kernel gives the files of a process that is not dumpable to root, though not its directory,
// and whoever may trace it is asked the same question. What is gone is not known to be safe.
bool is_traceable(pid_t pid) {
  struct stat process {};
  struct stat files {};
  const std::string proc = "/proc/" + std::to_string(pid);
  if (::stat(proc.c_str(), &process) != 0 || ::stat((proc + "/environ").c_str(), &files) != 0)
    return true;
  return files.st_uid == process.st_uid;
}

}  // namespace paddock::kernel
