#include "kernel/policy/policy_rules.hpp"

#include <sys/stat.h>

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "kernel/policy/binds.hpp"
#include "kernel/policy/environment.hpp"
#include "kernel/policy/names.hpp"
#include "kernel/policy/paths.hpp"
#include "kernel/policy/units.hpp"

namespace paddock::kernel {
namespace {

// RLIM_INFINITY is 2^64 - 1, and a tmpfs size is signed in the kernel: a number this large would
// quietly mean "no limit". The way to write that is to leave the key out.
constexpr std::uint64_t limit_max = std::numeric_limits<std::int64_t>::max();

// Kept in the memory of the supervisor, for each stream of each run.
constexpr std::uint64_t output_bytes_max = std::uint64_t{1} << 30;

constexpr double cpu_max_min = 0.01;    // the kernel's least quota: 1 ms of a period of 100 ms
constexpr double cpu_max_max = 65'536;  // more cores than any host has
constexpr std::chrono::milliseconds grace_max = std::chrono::hours(1);

class Rules {
 public:
  explicit Rules(const SandboxPolicy& policy) : policy_(policy) {}

  std::vector<PolicyMistake> check() && {
    check_name();
    check_limits();
    check_times();
    check_cgroup();
    check_landlock();
    check_needs_of_isolation();
    check_binds();
    check_workdir();
    check_workspace();
    check_environment();
    return std::move(mistakes_);
  }

 private:
  void add(std::string_view table, std::string_view key, std::string_view rest,
           std::optional<std::size_t> index = std::nullopt) {
    mistakes_.push_back({table, std::string(key), index, fmt::format("{} {}", key, rest)});
  }

  void check_name() {
    if (!is_name(policy_.profile)) add("", "name", "is not of the form [A-Za-z0-9_-]{1,64}");
  }

  void check_range(std::string_view table, std::string_view key, std::uint64_t value,
                   std::uint64_t least, std::uint64_t most) {
    if (value < least) add(table, key, fmt::format("is {}, at least {}", value, least));
    if (value > most) add(table, key, fmt::format("is {}, at most {}", value, most));
  }

  void check_range(std::string_view table, std::string_view key,
                   const std::optional<std::uint64_t>& value, std::uint64_t most) {
    if (value) check_range(table, key, *value, 1, most);
  }

  void check_limits() {
    check_range("limits", "cpu_seconds", policy_.cpu_seconds, limit_max);
    check_range("limits", "memory_bytes", policy_.memory_bytes, limit_max);
    check_range("limits", "fsize_bytes", policy_.fsize_bytes, limit_max);
    check_range("limits", "nproc", policy_.nproc, limit_max);
    check_range("limits", "nofile", policy_.nofile, limit_max);
    check_range("limits", "core_size", policy_.core_size, 0, limit_max);
    check_range("limits", "output_bytes", policy_.output_bytes, 1, output_bytes_max);
    // Not held against output_bytes: a run can be stopped before there is anything to drop.
    check_range("limits", "output_stop_bytes", policy_.output_stop_bytes, limit_max);
    check_range("isolation", "tmp_bytes", policy_.tmp_bytes, 1, limit_max);
    check_range("isolation", "workspace_bytes", policy_.workspace_bytes, 1, limit_max);
  }

  void check_time(std::string_view key, std::chrono::milliseconds value,
                  std::chrono::milliseconds most) {
    if (value.count() < 1) add("limits", key, "is below 1ms");
    if (value > most) add("limits", key, fmt::format("is above {}", format_duration(most)));
  }

  void check_times() {
    if (policy_.wall_clock) check_time("wall_seconds", *policy_.wall_clock, duration_max);
    check_time("grace_seconds", policy_.grace, grace_max);
  }

  void check_cgroup() {
    const CgroupLimits& cgroup = policy_.cgroup;
    check_range("cgroup", "memory_max", cgroup.memory_max, limit_max);
    check_range("cgroup", "pids_max", cgroup.pids_max, pids_max_max);
    // Written so that a NaN fails it too.
    if (cgroup.cpu_max && !(*cgroup.cpu_max >= cpu_max_min && *cgroup.cpu_max <= cpu_max_max)) {
      add("cgroup", "cpu_max",
          fmt::format("is {} cores, at least {} and at most {}", *cgroup.cpu_max, cpu_max_min,
                      cpu_max_max));
    }
    if (cgroup.use != CgroupUse::never) return;
    constexpr std::string_view unused = "has no effect with use = \"never\"";
    if (cgroup.memory_max) add("cgroup", "memory_max", unused);
    if (cgroup.pids_max) add("cgroup", "pids_max", unused);
    if (cgroup.cpu_max) add("cgroup", "cpu_max", unused);
  }

  void check_landlock() {
    const unsigned abi = policy_.landlock.abi;
    if (abi < 1 || abi > landlock_abi_most)
      add("landlock", "abi", fmt::format("is {}; known are 1 to {}", abi, landlock_abi_most));
  }

  void check_needs_of_isolation() {
    if (policy_.use_bubblewrap) return;
    constexpr std::string_view needs = "needs use_bubblewrap = true";
    if (policy_.deny_network) add("isolation", "deny_network", needs);
    if (!policy_.bind_ro.empty()) add("isolation", "bind_ro", needs);
    if (!policy_.bind_rw.empty()) add("isolation", "bind_rw", needs);
  }

  void check_binds() {
    const std::size_t count = policy_.bind_ro.size() + policy_.bind_rw.size();
    if (count > policy_binds_max) {
      // And nothing more about them: the rules below compare each with each.
      add("isolation", policy_.bind_ro.size() > policy_.bind_rw.size() ? "bind_ro" : "bind_rw",
          fmt::format("brings the binds to {}, at most {}", count, policy_binds_max));
      return;
    }
    check_each("bind_ro", policy_.bind_ro, BindAccess::read_only);
    check_each("bind_rw", policy_.bind_rw, BindAccess::writable);
    for (std::size_t i = 0; i < policy_.bind_ro.size(); ++i) {
      check_placement("bind_ro", policy_.bind_ro, i);
    }
    for (std::size_t i = 0; i < policy_.bind_rw.size(); ++i) {
      check_placement("bind_rw", policy_.bind_rw, i);
    }
  }

  void check_each(std::string_view key, const std::vector<std::string>& binds, BindAccess access) {
    for (std::size_t i = 0; i < binds.size(); ++i) {
      std::string mistake = bind_path_mistake(binds[i], access);
      if (mistake.empty()) mistake = bind_source_mistake(binds[i]);
      if (!mistake.empty()) add("isolation", key, fmt::format("'{}' {}", binds[i], mistake), i);
    }
  }

  // Where entry `i` of `own` lies among the other binds. bubblewrap makes missing mount points, and
  // below a directory that a run can write, a symbolic link planted there leads it out of the
  // sandbox (CVE-2026-87766): hence no bind below a writable one.
  void check_placement(std::string_view key, const std::vector<std::string>& own, std::size_t i) {
    const std::string& path = own[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (own[j] != path) continue;
      add("isolation", key, fmt::format("'{}' is listed twice", path), i);
      return;
    }
    const bool writable = &own == &policy_.bind_rw;
    for (const std::string& other : policy_.bind_rw) {
      if (path == other) {
        if (!writable) add("isolation", key, fmt::format("'{}' is in bind_rw too", path), i);
      } else if (is_at_or_below(path, other)) {
        add("isolation", key, fmt::format("'{}' is below bind_rw '{}'", path, other), i);
      }
    }
  }

  void check_workdir() {
    const std::string& workdir = policy_.workdir;
    if (workdir.empty()) return;
    if (const std::string mistake = path_form_mistake(workdir); !mistake.empty()) {
      add("isolation", "workdir", fmt::format("'{}' {}", workdir, mistake));
      return;
    }
    if (!policy_.use_bubblewrap) {
      check_directory(workdir);
      return;
    }
    constexpr std::array<std::string_view, 3> own_trees{"/workspace", "/tmp", "/home/agent"};
    for (const std::string_view tree : own_trees) {
      if (is_at_or_below(workdir, tree)) return;
    }
    if (workdir == "/") return;
    if (!is_bound(workdir)) {
      add("isolation", "workdir",
          fmt::format("'{}' is not inside the sandbox: it is in no bind, nor in /workspace, /tmp "
                      "or /home/agent",
                      workdir));
      return;
    }
    check_directory(workdir);
  }

  void check_directory(const std::string& workdir) {
    struct stat status {};
    if (::stat(workdir.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      add("isolation", "workdir", fmt::format("'{}' is not a directory", workdir));
    }
  }

  // It is not seen at its own place, so the rules for where a bind may lie are not for it.
  void check_workspace() {
    const std::string& workspace = policy_.workspace;
    if (workspace.empty()) return;
    std::string mistake = path_form_mistake(workspace);
    if (mistake.empty()) mistake = bind_source_mistake(workspace);
    struct stat status {};
    if (mistake.empty() && (::stat(workspace.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)))
      mistake = "is not a directory";
    if (!mistake.empty()) add("isolation", "workspace", fmt::format("'{}' {}", workspace, mistake));
  }

  bool is_bound(std::string_view path) const {
    for (const auto* binds : {&policy_.bind_ro, &policy_.bind_rw}) {
      for (const std::string& bind : *binds) {
        if (is_at_or_below(path, bind)) return true;
      }
    }
    return false;
  }

  void check_environment() {
    std::size_t bytes = 0;
    for (const auto& [name, value] : policy_.environment) {
      if (const auto named = check_environment_name("environment", name); !named) {
        mistakes_.push_back({"environment", name, std::nullopt, named.error().message});
      }
      if (value.find('\0') != std::string::npos) {
        mistakes_.push_back({"environment", name, std::nullopt,
                             fmt::format("environment.{} contains a NUL byte", name)});
      }
      bytes += name.size() + 1 + value.size() + 1;
    }
    if (bytes > argv_and_environment_bytes_max) {
      add("environment", "environment",
          fmt::format("is {} bytes, at most {}", bytes, argv_and_environment_bytes_max));
    }
  }

  const SandboxPolicy& policy_;
  std::vector<PolicyMistake> mistakes_;
};

}  // namespace

std::vector<PolicyMistake> mistakes_in(const SandboxPolicy& policy) {
  return Rules(policy).check();
}

}  // namespace paddock::kernel
