#include "kernel/warm/warm_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/confine/bubblewrap.hpp"
#include "kernel/warm/zygote_program.hpp"

namespace paddock::kernel {
namespace {

constexpr const char* library_path = "/run/paddock-warm.so";
constexpr std::uint64_t zygote_output_bytes = 64u << 10;  // what it says when it cannot start

// As bubblewrap mounts them for a cold run.
std::vector<FreshMount> mounts_of_fork(const SandboxPolicy& policy, const HostFacts& host) {
  std::vector<FreshMount> mounts = {{"proc", "/proc", ""}};
  for (const std::string& path : host.proc_masks) mounts.push_back({"cover", path, ""});
  mounts.push_back({"devpts", "/dev/pts", "newinstance,ptmxmode=0666,mode=620"});
  const auto tmpfs = [&](const char* path, const char* mode, std::uint64_t bytes) {
    mounts.push_back({"tmpfs", path, fmt::format("mode={},size={}", mode, bytes)});
  };
  tmpfs("/dev/shm", "1777", policy.tmp_bytes);
  tmpfs("/tmp", "1777", policy.tmp_bytes);
  tmpfs(sandbox_home, "0700", policy.tmp_bytes);
  tmpfs(sandbox_workspace, "0700", policy.workspace_bytes);
  return mounts;
}

// The zygote has its text: the spec names it, and a fork that need not read it starts sooner.
void name_prepared_program(const std::vector<std::string>& programs, LaunchSpec& launch) {
  const auto flag = std::find(launch.argv.begin(), launch.argv.end(), "-c");
  if (launch.argv.end() - flag < 2) return;
  std::string& code = *(flag + 1);
  const auto known = std::find(programs.begin(), programs.end(), code);
  if (known == programs.end()) return;
  launch.prepared_program = static_cast<std::uint32_t>(known - programs.begin()) + 1;
  code.clear();
}

}  // namespace

SandboxPolicy policy_of_zygote(const SandboxPolicy& policy) {
  SandboxPolicy zygote;
  zygote.profile = policy.profile;
  zygote.grace = std::chrono::milliseconds(0);
  zygote.output_bytes = zygote_output_bytes;
  zygote.cgroup.use = CgroupUse::never;
  zygote.use_bubblewrap = policy.use_bubblewrap;
  zygote.bind_ro = policy.bind_ro;
  zygote.workdir = "/";
  zygote.deny_network = policy.deny_network;
  return zygote;
}

std::string input_of_zygote(const ZygoteProgram& program) {
  std::string input;
  for (const std::string& module : program.modules) input += module + '\n';
  for (const std::string& source : program.programs) input += '\0' + source;
  return input;
}

Result<Plan> make_zygote_plan(const SandboxPolicy& policy, const ZygoteProgram& program,
                              const std::string& library, const HostFacts& host,
                              const RunIdentity& identity) {
  const SandboxPolicy reduced = policy_of_zygote(policy);
  std::vector<std::string> argv = program.interpreter;
  argv.insert(argv.end(), {"-c", std::string(zygote_program), library_path});
  Plan plan = TRY(make_plan(reduced, argv, host, identity));
  BubblewrapCall call = bubblewrap_call(reduced, host, SandboxOf::zygote);
  const int fd = call.files.empty() ? fd_first_file : call.files.rbegin()->first + 1;
  call.files[fd] = library;
  // Before the last words, which make the root read-only.
  call.arguments.insert(call.arguments.end() - 2,
                        {"--perms", "0444", "--file", std::to_string(fd), library_path});
  plan.bubblewrap = std::move(call.arguments);
  plan.files = std::move(call.files);
  plan.launch.user_namespaces_closed = false;
  std::erase_if(plan.mounts, [&](const Mount& mount) {
    return mount.writable || std::find(host.proc_masks.begin(), host.proc_masks.end(),
                                       mount.path) != host.proc_masks.end();
  });
  return plan;
}

void make_warm(const SandboxPolicy& policy, const HostFacts& host, const ZygoteLine& zygote,
               Plan& plan) {
  plan.role = "fork";
  plan.bubblewrap.clear();
  plan.files.clear();
  plan.launch.wrapper.clear();
  plan.launch.mounts = mounts_of_fork(policy, host);
  name_prepared_program(zygote.programs, plan.launch);
  plan.program_at_gate = zygote.program;
  plan.not_devices = zygote.devices;
  plan.not_session_keyring = zygote.session_keyring;
  const bool has_network = std::find(plan.new_namespaces.begin(), plan.new_namespaces.end(),
                                     "net") == plan.new_namespaces.end();
  // Without a filter a socket could be had through io_uring, which no filter sees.
  plan.launch.watch_sockets =
      !has_network && !zygote.network_is_used && !plan.launch.filter.empty();
  for (const std::string& name : plan.new_namespaces) {
    if (name == "net" && plan.launch.watch_sockets) continue;
    const auto zygotes = zygote.namespaces.find(name);
    plan.not_namespaces[name] = zygotes == zygote.namespaces.end() ? "" : zygotes->second;
  }
}

}  // namespace paddock::kernel
