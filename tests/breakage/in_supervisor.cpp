// Linked into breakable supervisors: what the kernel library does less of.

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "breakage/plan_edits.hpp"
#include "breakage/wrapped.hpp"
#include "kernel/run/receipt.hpp"
#include "kernel/run/run.hpp"
#include "kernel/run/spawn.hpp"
#include "kernel/run/spawn_child.hpp"
#include "kernel/warm/spawn_warm.hpp"
#include "kernel/warm/warm_plan.hpp"

namespace paddock::breakage {
namespace {

const char* name_of_broken() {
  // Known before main: the child of a spawn may not look it up.
  static const char* const name = std::getenv(variable);
  return name == nullptr ? "" : name;
}
[[maybe_unused]] const char* const known_early = name_of_broken();

}  // namespace

bool broken(const char* control) {
  return std::string_view(name_of_broken()) == control;
}

bool fails(const char* step) {
  const std::string_view name = name_of_broken();
  const std::string_view wanted = step;
  constexpr std::string_view prefix = "fail:";
  if (!name.starts_with(prefix)) return false;
  const std::string_view named = name.substr(prefix.size());
  if (!named.starts_with(wanted) || named.substr(wanted.size(), 1) != ":") return false;
  errno = std::atoi(named.data() + wanted.size() + 1);
  return true;
}

using kernel::Plan;
using kernel::Result;

bool is_of_zygote(const Plan& plan) {
  return plan.launch.argv.back() == "/run/paddock-warm.so";
}

WRAPPED(Result<kernel::SpawnedRun>, spawn, "_ZN7paddock6kernel5spawnERKNS0_4PlanEiiii",
        const Plan& plan, int launcher, int cgroup_directory, int program, int channel);
Result<kernel::SpawnedRun> wrapped_spawn(const Plan& plan, int launcher, int cgroup_directory,
                                         int program, int channel) {
  if (is_of_zygote(plan)) {  // which is as it must be: its forks are not
    Plan told = plan;
    told.launch.environment.push_back(std::string(variable) + "=" + name_of_broken());
    return real_spawn(told, launcher, cgroup_directory, program, channel);
  }
  Plan broken_plan = without(name_of_broken(), plan);
  broken_plan.files[fd_broken] = name_of_broken();
  return real_spawn(broken_plan, launcher, broken("cgroup") ? -1 : cgroup_directory, program,
                    channel);
}

WRAPPED(Result<kernel::SpawnedRun>, spawn_warm,
        "_ZN7paddock6kernel10spawn_warmERKNS0_4PlanERKNS0_10ZygoteLineEii", const Plan& plan,
        const kernel::ZygoteLine& zygote, int cgroup_entrance, int channel);
Result<kernel::SpawnedRun> wrapped_spawn_warm(const Plan& plan, const kernel::ZygoteLine& zygote,
                                              int cgroup_entrance, int channel) {
  return real_spawn_warm(without(name_of_broken(), plan), zygote,
                         broken("cgroup") ? -1 : cgroup_entrance, channel);
}

// A network namespace of its own is made for those forks only that come after one with a socket.
WRAPPED(
    void, make_warm,
    "_ZN7paddock6kernel9make_warmERKNS0_13SandboxPolicyERKNS0_9HostFactsERKNS0_10ZygoteLineERNS0"
    "_4PlanE",
    const kernel::SandboxPolicy& policy, const kernel::HostFacts& host,
    const kernel::ZygoteLine& zygote, Plan& plan);
void wrapped_make_warm(const kernel::SandboxPolicy& policy, const kernel::HostFacts& host,
                       const kernel::ZygoteLine& zygote, Plan& plan) {
  if (broken("fork_namespace_net")) const_cast<kernel::ZygoteLine&>(zygote).network_is_used = true;
  real_make_warm(policy, host, zygote, plan);
}

WRAPPED(Result<pid_t>, start_child, "_ZN7paddock6kernel11start_childERKNS0_9ChildSideEiPi",
        const kernel::ChildSide& child, int cgroup_directory, int* pidfd);
Result<pid_t> wrapped_start_child(const kernel::ChildSide& child, int cgroup_directory,
                                  int* pidfd) {
  if (fails("clone3")) return kernel::fail_needed_call("clone3");
  return real_start_child(child, cgroup_directory, pidfd);
}

WRAPPED(Result<std::unique_ptr<kernel::Run>>, start,
        "_ZN7paddock6kernel3Run5startERKNS0_4PlanEiNS0_12RunResourcesENS0_10RunOptionsE",
        const Plan& plan, int launcher, kernel::RunResources resources, kernel::RunOptions options);
Result<std::unique_ptr<kernel::Run>> wrapped_start(const Plan& plan, int launcher,
                                                   kernel::RunResources resources,
                                                   kernel::RunOptions options) {
  const bool timed = broken("wall_clock");
  return real_start(timed ? without("wall_clock", plan) : plan, launcher, std::move(resources),
                    std::move(options));
}

// An agent that does not wait at its gate has time to run.
WRAPPED(Result<kernel::Receipt>, observe, "_ZN7paddock6kernel7observeEi", pid_t pid);
Result<kernel::Receipt> wrapped_observe(pid_t pid) {
  if (broken("gate")) ::usleep(50'000);
  return real_observe(pid);
}

WRAPPED(
    int, write_cgroup_file,
    "_ZN7paddock6kernel17write_cgroup_fileERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
    "S8_",
    const std::string& path, const std::string& value);
int wrapped_write_cgroup_file(const std::string& path, const std::string& value) {
  const std::string knob = path.substr(path.rfind('/') + 1);
  return broken(knob.c_str()) ? 0 : real_write_cgroup_file(path, value);
}

}  // namespace paddock::breakage

using paddock::breakage::broken;
using paddock::breakage::fails;

extern "C" {

int __real_sigaction(int signal, const struct sigaction* action, struct sigaction* before);
int __wrap_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  const bool resets = action != nullptr && action->sa_handler == SIG_DFL;
  if (resets && broken("signal_dispositions")) return 0;
  return __real_sigaction(signal, action, before);
}

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (number == SYS_close_range && fails("child.close_range")) return -1;
  if (number == SYS_execveat && fails("child.execveat")) return -1;
  return __real_syscall(number, a, b, c, d, e, f);
}

}  // extern "C"
