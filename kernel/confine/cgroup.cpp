#include "kernel/confine/cgroup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <climits>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

#include "kernel/confine/cgroup_files.hpp"

namespace paddock::kernel {
namespace {

constexpr std::uint64_t cpu_period_us = 100'000;  // the kernel's default period
constexpr std::uint64_t cpu_quota_us_min = 1000;  // the kernel's
// Of a leaf whose run is over: all of it was killed before, and dies in a few milliseconds.
constexpr int removal_tries_max = 50;
constexpr timespec removal_pause{.tv_sec = 0, .tv_nsec = 1'000'000};

// The kernel counts whole pages.
std::string memory_value(const std::optional<std::uint64_t>& bytes) {
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (!bytes || *bytes / page_bytes >= LONG_MAX / page_bytes) return "max";
  return std::to_string(*bytes / page_bytes * page_bytes);
}

std::string pids_value(const std::optional<std::uint64_t>& pids) {
  return pids && *pids <= pids_max_max ? std::to_string(*pids) : "max";
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The sum of the first line of a pressure file: "some avg10=0.00 avg60=0.00 avg300=0.00 total=12".
// Absent where the kernel keeps no pressure figures.
std::optional<std::uint64_t> pressure_total_us(const Fd& directory, const std::string& name) {
  constexpr std::string_view key = "total=";
  for (const std::string& word : cgroup_words(directory, name))
    if (word.starts_with(key)) return number_in(std::string_view(word).substr(key.size()));
  return std::nullopt;
}

std::optional<std::uint64_t> single_number(const Fd& directory, const std::string& name) {
  const std::vector<std::string> words = cgroup_words(directory, name);
  if (words.empty()) return std::nullopt;
  return number_in(words.front());
}

std::string cpu_value(const std::optional<double>& cores) {
  if (!cores) return "max " + std::to_string(cpu_period_us);
  const auto quota = static_cast<std::uint64_t>(*cores * static_cast<double>(cpu_period_us));
  return std::to_string(std::max(quota, cpu_quota_us_min)) + " " + std::to_string(cpu_period_us);
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// Empty if it is gone again, or if somebody holds it: its supervisor, or a sweep.
Fd lock_leaf(const std::string& path) {
  Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory || ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0 || !is_at(directory, path))
    return {};
  return directory;
}

bool is_name_of_run(std::string_view name) {
  constexpr std::size_t digits = 16;
  return name.size() == 2 + digits && name.starts_with("r-") &&
         std::all_of(name.begin() + 2, name.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

}  // namespace

std::map<std::string, std::string> planned_knobs(const CgroupLimits& limits,
                                                 const CgroupBase& base) {
  std::map<std::string, std::string> knobs;
  if (has_word(base.controllers, "memory")) {
    knobs["memory.max"] = memory_value(limits.memory_max);
    knobs["memory.high"] = "max";
    knobs["memory.oom.group"] = limits.memory_max ? "1" : "0";
    knobs["memory.swap.max"] = limits.memory_max ? "0" : "max";
  }
  if (has_word(base.controllers, "pids")) knobs["pids.max"] = pids_value(limits.pids_max);
  if (has_word(base.controllers, "cpu")) {
    knobs["cpu.max"] = cpu_value(limits.cpu_max);
    knobs["cpu.max.burst"] = "0";
    knobs["cpu.weight"] = "100";
  }
  for (const std::string& absent : base.absent_knobs) knobs.erase(absent);
  return knobs;
}

void sweep_leaves(const CgroupBase& base) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(base.path.c_str()), &::closedir);
  if (!directory) return;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (!is_name_of_run(entry->d_name)) continue;
    const std::string path = base.path + "/" + entry->d_name;
    const Fd lock = lock_leaf(path);
    if (!lock) continue;
    write_cgroup_file(path + "/cgroup.kill", "1");
    remove_cgroup_tree(path);
    // Said, and not left to close: see ~CgroupLeaf.
    ::flock(lock.get(), LOCK_UN);
  }
}

Result<CgroupLeaf> CgroupLeaf::create(const CgroupBase& base, const std::string& name,
                                      const CgroupLimits& limits) {
  constexpr int tries_max = 20;
  const std::string path = base.path + "/" + name;
  Fd directory;
  // Until it is locked, a sweep may take it for one that nobody has.
  for (int tried = 0; !directory && tried < tries_max; ++tried) {
    if (::mkdir(path.c_str(), 0755) != 0 && (tried == 0 || errno != EEXIST))
      return fail_errno("make cgroup '" + path + "'");
    directory = lock_leaf(path);
    if (!directory) ::nanosleep(&removal_pause, nullptr);
  }
  if (!directory) return fail(ErrorCode::io, "cgroup '" + path + "' is held by another process");
  CgroupLeaf leaf(path, std::move(directory));
  for (const auto& [knob, value] : planned_knobs(limits, base)) {
    if (const int error = write_cgroup_file(leaf.file(knob), value); error != 0)
      return fail(ErrorCode::io,
                  "write '" + value + "' to '" + leaf.file(knob) + "': " + errno_text(error));
    leaf.knobs_.push_back(knob);
  }
  return leaf;
}

CgroupLeaf::~CgroupLeaf() {
  if (!directory_) return;
  for (int tried = 0; !remove_cgroup_tree(path_) && tried < removal_tries_max; ++tried) {
    kill();
    ::nanosleep(&removal_pause, nullptr);
  }
  // Said, and not left to close: the child of a run that is just starting has a copy of the
  // descriptor until its execve.
  ::flock(directory_.get(), LOCK_UN);
}

Result<Fd> CgroupLeaf::entrance() const {
  Fd procs(::openat(directory_.get(), "cgroup.procs", O_WRONLY | O_CLOEXEC));
  if (!procs) return fail_errno("open cgroup.procs of '" + path_ + "'");
  return procs;
}

void CgroupLeaf::kill() const {
  write_cgroup_file(file("cgroup.kill"), "1");
}

Result<void> CgroupLeaf::freeze() const {
  const int error = write_cgroup_file(file("cgroup.freeze"), "1");
  if (error == 0) return {};
  return fail(ErrorCode::io, "write '" + file("cgroup.freeze") + "': " + errno_text(error));
}

void CgroupLeaf::thaw() const {
  write_cgroup_file(file("cgroup.freeze"), "0");
}

bool CgroupLeaf::populated() const {
  // What cannot be read is no proof that nobody is left.
  const std::vector<std::string> words = cgroup_words(directory_, "cgroup.events");
  const auto at = std::find(words.begin(), words.end(), "populated");
  return at == words.end() || at + 1 == words.end() || *(at + 1) != "0";
}

std::map<std::string, std::string> CgroupLeaf::limits() const {
  std::map<std::string, std::string> seen;
  for (const std::string& knob : knobs_)
    if (std::string value = joined(cgroup_words(directory_, knob)); !value.empty())
      seen[knob] = std::move(value);
  return seen;
}

// A file whose controller the leaf does not have is not looked for.
CgroupUsage CgroupLeaf::usage() const {
  CgroupUsage usage;
  const std::vector<std::string> cpu = cgroup_words(directory_, "cpu.stat");
  usage.cpu_usage_us = counter_in(cpu, "usage_usec");
  usage.throttled_us = counter_in(cpu, "throttled_usec");
  usage.cpu_waited_us = pressure_total_us(directory_, "cpu.pressure");
  if (has_word(knobs_, "memory.max")) {
    const std::vector<std::string> memory = cgroup_words(directory_, "memory.events");
    usage.oom_kills = counter_in(memory, "oom_kill");
    usage.oom_events = counter_in(memory, "oom");
    usage.memory_bytes = single_number(directory_, "memory.current");
    usage.memory_peak_bytes = single_number(directory_, "memory.peak");
  }
  if (has_word(knobs_, "pids.max"))
    usage.pids_refused = counter_in(cgroup_words(directory_, "pids.events"), "max");
  return usage;
}

}  // namespace paddock::kernel
