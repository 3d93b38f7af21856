#include "kernel/confine/cgroup.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sstream>

namespace paddock::kernel {
namespace {

constexpr std::size_t cgroup_file_bytes_max = 64 * 1024;
constexpr std::uint64_t cpu_period_us = 100'000;  // the kernel's default period

Result<void> write_knob(const std::string& path, const std::string& value) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail_errno("open '" + path + "'");
  if (::write(fd.get(), value.data(), value.size()) < 0)
    return fail_errno("write '" + value + "' to '" + path + "'");
  return {};
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> words_of(const std::string& path) {
  std::vector<std::string> words;
  std::istringstream text(read_file(path, cgroup_file_bytes_max).value_or(""));
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

// The number after `key` in a "key value" file such as cgroup.events.
std::uint64_t counter(const std::string& path, const std::string& key) {
  const std::vector<std::string> words = words_of(path);
  const auto at = std::find(words.begin(), words.end(), key);
  std::uint64_t value = 0;
  if (at != words.end() && at + 1 != words.end())
    std::from_chars((at + 1)->data(), (at + 1)->data() + (at + 1)->size(), value);
  return value;
}

std::string number_or_max(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "max";
}

std::string cpu_quota(const std::optional<double>& cores) {
  if (!cores) return "max " + std::to_string(cpu_period_us);
  const auto quota = static_cast<std::uint64_t>(*cores * static_cast<double>(cpu_period_us));
  return std::to_string(std::max<std::uint64_t>(quota, 1000)) + " " + std::to_string(cpu_period_us);
}

Result<void> write_limits(const std::string& leaf, const CgroupBase& base,
                          const CgroupLimits& limits) {
  if (contains(base.controllers, "memory")) {
    TRY_VOID(write_knob(leaf + "/memory.max", number_or_max(limits.memory_max)));
    TRY_VOID(write_knob(leaf + "/memory.oom.group", limits.memory_max ? "1" : "0"));
    // Absent where the kernel does not account for swap: then there is none to limit.
    if (::access((leaf + "/memory.swap.max").c_str(), F_OK) == 0)
      TRY_VOID(write_knob(leaf + "/memory.swap.max", limits.memory_max ? "0" : "max"));
  }
  if (contains(base.controllers, "pids"))
    TRY_VOID(write_knob(leaf + "/pids.max", number_or_max(limits.pids_max)));
  if (contains(base.controllers, "cpu"))
    TRY_VOID(write_knob(leaf + "/cpu.max", cpu_quota(limits.cpu_max)));
  return {};
}

}  // namespace

Result<CgroupBase> prepare_cgroup_base(const std::string& path) {
  const auto unavailable = [&](const std::string& why) {
    return fail(ErrorCode::sandbox_not_available, "cgroup base '" + path + "' " + why);
  };
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return unavailable("cannot be made: " + errno_text(errno));
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0 || info.f_type != CGROUP2_SUPER_MAGIC)
    return unavailable("is not on a cgroup2 file system");
  if (::access(path.c_str(), W_OK) != 0) return unavailable("is not writable for this user");
  if (::access((path + "/cgroup.kill").c_str(), W_OK) != 0)
    return unavailable("has no cgroup.kill; the kernel is older than 5.14");
  CgroupBase base{path, {}};
  const std::vector<std::string> available = words_of(path + "/cgroup.controllers");
  for (const char* controller : {"memory", "pids", "cpu"}) {
    if (!contains(available, controller)) continue;
    if (write_knob(path + "/cgroup.subtree_control", std::string("+") + controller))
      base.controllers.emplace_back(controller);
  }
  return base;
}

Result<CgroupLeaf> CgroupLeaf::create(const CgroupBase& base, const std::string& name,
                                      const CgroupLimits& limits) {
  const std::string path = base.path + "/" + name;
  if (::mkdir(path.c_str(), 0755) != 0) return fail_errno("make cgroup '" + path + "'");
  Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CgroupLeaf leaf(path, std::move(directory));
  if (!leaf.directory_) return fail_errno("open cgroup '" + path + "'");
  TRY_VOID(write_limits(path, base, limits));
  return leaf;
}

CgroupLeaf::~CgroupLeaf() {
  if (directory_) ::rmdir(path_.c_str());
}

void CgroupLeaf::kill() const {
  [[maybe_unused]] const auto ignored = write_knob(path_ + "/cgroup.kill", "1");
}

bool CgroupLeaf::populated() const {
  return counter(path_ + "/cgroup.events", "populated") != 0;
}

std::uint64_t CgroupLeaf::oom_kills() const {
  return counter(path_ + "/memory.events", "oom_kill");
}

}  // namespace paddock::kernel
