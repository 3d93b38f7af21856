// paddock-escapes: does anything get out?

#include <fnmatch.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "escapes/runner/audit.hpp"
#include "escapes/runner/confined.hpp"
#include "escapes/runner/control.hpp"
#include "escapes/runner/options.hpp"
#include "escapes/runner/result_table.hpp"
#include "escapes/runner/rows.hpp"
#include "escapes/runner/stage.hpp"
#include "escapes/runner/zygotes.hpp"
#include "kernel/base/error.hpp"
#include "kernel/base/executable.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/run/strays.hpp"
#include "kernel/run/workspace.hpp"

namespace paddock::escapes {
namespace {

constexpr int exit_usage = 2;

int complain(const std::string& message, int exit_code = exit_usage) {
  std::fprintf(stderr, "paddock-escapes: %s\n", message.c_str());
  return exit_code;
}

std::vector<Group> chosen_groups(const std::string& pattern) {
  std::vector<Group> groups;
  for (Group& group : all_groups()) {
    std::erase_if(group.rows, [&](const Row& row) {
      return ::fnmatch(pattern.c_str(), std::string(row.name).c_str(), 0) != 0;
    });
    if (!group.rows.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

// Root in a container may hold less than root has: a refusal is no surprise then.
bool has_all_capabilities() {
  const auto status = kernel::read_file("/proc/self/status", 65536).value_or("");
  const auto last = kernel::read_file("/proc/sys/kernel/cap_last_cap", 16).value_or("0");
  char all[17];
  std::snprintf(all, sizeof all, "%016llx", (1ull << (std::atoi(last.c_str()) + 1)) - 1);
  return status.find("CapEff:\t" + std::string(all)) != std::string::npos;
}

// Why this host lacks it; empty: it does not.
std::string missing(Need need, const kernel::Sandbox& sandbox) {
  const auto& base = sandbox.cgroup().base;
  if (need == Need::memory_cgroup &&
      (!base || std::find(base->controllers.begin(), base->controllers.end(), "memory") ==
                    base->controllers.end()))
    return "no cgroup with a memory controller, so nothing bounds the run's memory as a whole";
  constexpr int version_flag = 1;  // LANDLOCK_CREATE_RULESET_VERSION
  const long landlock = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, version_flag);
  if (need == Need::landlock && landlock < 1) return "this kernel has no Landlock";
  if (need == Need::signal_scope && landlock < 6)
    return "this kernel's Landlock does not confine signals (ABI 6, Linux 6.12)";
  return {};
}

kernel::Result<std::vector<kernel::SandboxPolicy>> policies_of(
    const std::vector<std::string>& names) {
  const std::string directory = kernel::executable_directory() + "/../share/paddock/profiles";
  const kernel::LoadResult loaded = kernel::load_catalog({directory}, {});
  if (!loaded.ok())
    return kernel::fail(kernel::ErrorCode::sandbox_policy_error,
                        kernel::to_string(loaded.diagnostics.front()));
  std::vector<kernel::SandboxPolicy> policies;
  for (const std::string& name : names) {
    constexpr std::array promised = {"DEFAULT", "STRICT", "SEALED"};
    if (std::find(promised.begin(), promised.end(), name) == promised.end())
      return kernel::fail(kernel::ErrorCode::unknown_profile,
                          "what profile '" + name +
                              "' promises is not written down; DEFAULT, STRICT and SEALED are");
    const auto found = loaded.catalog.profiles.find(name);
    if (found == loaded.catalog.profiles.end())
      return kernel::fail(kernel::ErrorCode::unknown_profile, "unknown profile '" + name + "'");
    kernel::Request request;
    request.profile = name;
    request.argv = {"true"};
    policies.push_back(TRY(kernel::resolve(found->second, request)));
  }
  return policies;
}

class Suite {
 public:
  // `zygotes`: null, or what the runs are forked from.
  Suite(const kernel::Sandbox& sandbox, Stage& stage, Zygotes* zygotes)
      : sandbox_(sandbox), stage_(stage), zygotes_(zygotes), privileged_(has_all_capabilities()) {}

  AttemptResult run(const Row& row, const std::string& group,
                    const std::vector<kernel::SandboxPolicy>& policies) {
    AttemptResult result{std::string(row.name), group, {}, {}};
    result.control =
        judge_control(run_control(stage_, row, next_channel()), !privileged_, row.lacks);
    if (result.control.verdict != Verdict::open) return result;
    for (const kernel::SandboxPolicy& policy : policies)
      result.by_profile.push_back(run_under(policy, row));
    return result;
  }

 private:
  // Different for each attempt, so that what one has left is not found by the next.
  std::string next_channel() { return std::to_string(::getpid() * 1000 % 60'000 + ++channel_); }

  HostState look() const {
    const auto& base = sandbox_.cgroup().base;
    const std::string cgroup_base = base ? base->path : "";
    return look_at_host(cgroup_base, run_name_prefix(), stage_.workspaces(),
                        [this](pid_t pid) { return is_helper(pid); });
  }

  bool is_helper(pid_t pid) const {
    return stage_.is_helper(pid) || (zygotes_ != nullptr && zygotes_->is_one(pid));
  }

  // So that each attempt finds the same host before and after it.
  void have_zygotes(const kernel::SandboxPolicy& policy) const {
    kernel::SandboxPolicy whole = policy;
    whole.bind_ro.push_back(stage_.programs());
    for (const int number : {0, 1})
      [[maybe_unused]] const auto had = zygotes_->ready(whole, number);
  }

  Judgement run_under(const kernel::SandboxPolicy& policy, const Row& row) {
    const std::string channel = next_channel();
    if (zygotes_ != nullptr) have_zygotes(policy);
    const HostState before = look();
    Confined confined(sandbox_, stage_, policy, zygotes_);
    const Observation seen = confined.run(row, channel);
    const Expectation& expected = policy.use_bubblewrap ? row.under_strict
                                  : ::geteuid() == 0    ? row.under_default.as_root
                                                        : row.under_default.as_user;
    Judgement judgement = judge(expected, seen, missing(expected.need, sandbox_));
    bury_strays();
    Stage::remove_shared(channel);
    if (row.scenario == Scenario::supervisor_killed ||
        row.scenario == Scenario::supervisor_killed_early)
      clean_up_as_the_next_supervisor();
    const std::string changed = stage_.restore(Side::canary);
    // What nothing here can stop may well do harm: to what the stage puts up for it.
    if (!changed.empty() && judgement.verdict != Verdict::open &&
        judgement.verdict != Verdict::unsupported)
      judgement = {Verdict::failed, "", "harm: " + changed + add(judgement)};
    if (zygotes_ != nullptr && zygotes_->count_lost() > 0) {
      judgement = {Verdict::failed, "", "its zygote has ended" + add(judgement)};
      have_zygotes(policy);
    }
    const HostState after = look();
    const std::string leaked = leaks(before, after);
    remove_leaked_cgroups(before, after);
    if (!leaked.empty()) judgement = {Verdict::failed, "", "leaked " + leaked + add(judgement)};
    return judgement;
  }

  // What a killed supervisor could not remove, the next one does when it starts.
  void clean_up_as_the_next_supervisor() const {
    kernel::Workspace::sweep(0);
    const auto& base = sandbox_.cgroup().base;
    if (base) kernel::sweep_leaves(*base);
  }

  static std::string add(const Judgement& judgement) {
    return judgement.reason.empty() ? "" : "; " + judgement.reason;
  }

  // What comes to a supervisor when an attempt has killed its launcher.
  void bury_strays() const {
    const auto known = [this](pid_t pid) { return is_helper(pid); };
    while (kernel::kill_strays(known) > 0) ::usleep(1000);
  }

  const kernel::Sandbox& sandbox_;
  Stage& stage_;
  Zygotes* zygotes_;
  bool privileged_;
  int channel_ = 0;
};

// Where the attempt's program lies. Below /var/tmp nothing can be bound into a zygote's sandbox.
std::string place_for_stage(const Options& options) {
  if (!options.warm) return "/var/tmp";
  const char* const home = std::getenv("HOME");
  return ::geteuid() == 0 || home == nullptr ? "/var/lib" : home;
}

int run(const Options& options) {
  const std::vector<Group> groups = chosen_groups(options.only);
  if (groups.empty()) return complain("no attempt matches '" + options.only + "'");
  if (options.list) {
    for (const Group& group : groups)
      for (const Row& row : group.rows) std::printf("%s\n", std::string(row.name).c_str());
    return 0;
  }
  const auto policies = policies_of(options.profiles);
  if (!policies) return complain(policies.error().message);
  const auto sandbox = kernel::Sandbox::open({.cgroup_base = options.cgroup_base, .host_uids = {}});
  if (!sandbox) return complain(sandbox.error().message);
  for (const kernel::SandboxPolicy& policy : *policies) {
    if (options.warm && !policy.use_bubblewrap)
      return complain("profile '" + policy.profile + "' has no warm runs");
    const auto possible = sandbox->preview(policy, {"true"}, "");
    if (!possible) return complain(possible.error().message, kernel::exit_cannot_isolate);
  }
  kernel::become_subreaper();
  auto stage = Stage::set_up(place_for_stage(options));
  if (!stage) return complain(stage.error().message);

  Columns columns{options.profiles, 0};
  for (const Group& group : groups)
    for (const Row& row : group.rows)
      columns.name_width = std::max(columns.name_width, row.name.size());

  Zygotes zygotes(*sandbox);
  Suite suite(*sandbox, **stage, options.warm ? &zygotes : nullptr);
  std::vector<AttemptResult> results;
  const auto print = [&](const std::string& text) {
    if (!options.json) std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  };
  print(heading(columns));
  for (const Group& group : groups) {
    print("\n" + std::string(group.title) + "\n");
    for (const Row& row : group.rows) {
      results.push_back(suite.run(row, std::string(group.title), *policies));
      print(line_of(results.back(), columns));
    }
  }
  print(explanations(results, columns) + summary(results, columns));
  if (options.json) std::puts(to_json(results, columns).c_str());
  return any_failed(results) ? 1 : 0;
}

}  // namespace
}  // namespace paddock::escapes

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto options = paddock::escapes::parse_options(argc, argv, exit_code);
  return options ? paddock::escapes::run(*options) : exit_code;
}
