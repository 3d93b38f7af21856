#include "supervisor/cli/report.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "kernel/base/signal_name.hpp"
#include "kernel/confine/rlimits.hpp"
#include "kernel/policy/units.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Cause;
using kernel::readable_bytes;
using kernel::readable_seconds;
using kernel::SandboxResult;
using kernel::signal_name;

constexpr std::size_t hash_characters_shown = 12;

// "killed after 1.0 s: cpu_seconds passed (profile STRICT)"
std::string killed(const RunRecord& run, const std::string& why) {
  return fmt::format("killed after {}: {} (profile {})", readable_seconds(run.result->duration_s),
                     why, run.profile);
}

// A limit as the kernel shows it, with its unit.
std::string limit_text(std::string_view name, const std::string& value) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
  if (parsed.ec != std::errc()) return value;  // "unlimited"
  if (name == "cpu_seconds") return value + " s for each process";
  if (name == "memory_bytes") return readable_bytes(number) + " of virtual memory for each process";
  if (name == "fsize_bytes") return readable_bytes(number) + " for each file";
  if (name == "nproc") return value + " processes and threads";
  if (name == "nofile") return value + " descriptors for each process";
  if (name == "nice") return number == 0 ? "cannot be raised" : value;
  if (name == "rtprio") return number == 0 ? "none" : value;
  if (name == "core_size") return number <= 1 ? "no core dumps" : readable_bytes(number);
  return value;
}

class Report {
 public:
  void heading(std::string_view text) { text_ += fmt::format("\n{}\n", text); }
  void line(std::string_view name, std::string_view value) {
    text_ += fmt::format("  {:<14}{}\n", name, printable(value));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string output_text(std::uint64_t written, bool truncated, std::string_view name) {
  return fmt::format("{} on {}{}", readable_bytes(written), name,
                     truncated ? " (not all of it kept)" : "");
}

void report_ending(const RunRecord& run, Report& report) {
  const SandboxResult& result = *run.result;
  report.line("run", run.id);
  report.line("command", shell_line(run.argv));
  if (!run.agent.empty()) report.line("agent", run.agent);
  report.line("cause", kernel::name_of(result.cause));
  report.line("", ending_line(run));
  if (run.warm)
    report.line("warm", *run.warm ? "a fork of an interpreter that was there already"
                                  : "no: " + run.cold_because);
  report.line("time", fmt::format("{}, and {} to set it up", readable_seconds(result.duration_s),
                                  readable_seconds(result.setup_s)));
  const auto cpu = [](std::uint64_t us) { return readable_seconds(static_cast<double>(us) / 1e6); };
  report.line(
      "cpu", fmt::format("{} user, {} system", cpu(result.cpu_user_us), cpu(result.cpu_system_us)));
  report.line("memory", readable_bytes(result.max_rss_bytes) + ", the largest process");
  report.line("written", readable_bytes(result.written_bytes) + " to files on disks");
  report.line("output", output_text(result.stdout_bytes, result.stdout_truncated, "stdout") + ", " +
                            output_text(result.stderr_bytes, result.stderr_truncated, "stderr"));
  if (result.output_held_open)
    report.line("", "somebody still held a pipe at the end: output may be missing");
  if (result.survivors_unproved) report.line("survivors", "could not be proved to be gone");
}

std::string landlock_text(const kernel::Receipt& receipt) {
  if (receipt.landlock_abi == 0) return "not used";
  std::string text = fmt::format("ABI {}", receipt.landlock_abi);
  if ((receipt.landlock_seen & kernel::landlock_seen_file) != 0)
    text += ", refused a file outside its rules";
  if ((receipt.landlock_seen & kernel::landlock_seen_signal) != 0)
    text += ", refused a signal to the outside";
  return text;
}

// A run's leaf is named after it; otherwise the receipt shows the supervisor's own.
bool has_own_cgroup(const RunRecord& run) {
  return run.receipt->cgroup.ends_with("/" + run.id);
}

void report_confinement(const RunRecord& run, Report& report) {
  report.heading("confined by");
  report.line("profile", run.profile);
  report.line("policy", run.policy_hash.substr(0, hash_characters_shown));
  if (run.receipt) {
    const kernel::Receipt& receipt = *run.receipt;
    report.line("host uid", std::to_string(receipt.host_uid));
    report.line("namespaces", receipt.new_namespaces.empty()
                                  ? "none of its own"
                                  : fmt::format("{}", fmt::join(receipt.new_namespaces, " ")));
    const bool no_capability = receipt.capabilities.find_first_not_of('0') == std::string::npos;
    report.line("privileges",
                fmt::format("{}, capabilities {}",
                            receipt.no_new_privs ? "no_new_privs" : "new ones can be gained",
                            no_capability ? "none" : receipt.capabilities));
    report.line("system calls", receipt.filters == 0 ? "not filtered" : "filtered");
    report.line("Landlock", landlock_text(receipt));
    for (const kernel::RlimitRow& row : kernel::rlimit_rows) {
      const auto found = receipt.rlimits.find(row.name);
      if (found != receipt.rlimits.end())
        report.line(row.name, limit_text(row.name, found->second));
    }
    report.line("cgroup", has_own_cgroup(run) ? receipt.cgroup
                                              : "none of its own: no cgroup v2 is delegated");
  } else {
    report.line("", "the program never ran, so nothing was observed");
  }
  report.line("missing", run.degraded.empty() ? "nothing that was asked for"
                                              : fmt::format("{}", fmt::join(run.degraded, " ")));
}

}  // namespace

std::string ending_line(const RunRecord& run) {
  const SandboxResult& result = *run.result;
  switch (result.cause) {
    case Cause::exited:
      return fmt::format("exited with {}", result.exit_code);
    case Cause::signaled:
      return fmt::format("ended by {} after {}", signal_name(result.signal),
                         readable_seconds(result.duration_s));
    case Cause::wall_clock:
      return killed(run, result.detail.empty() ? "wall_seconds passed" : result.detail);
    case Cause::host_overloaded:
      return killed(run, "wall_seconds passed, but the host was too busy: not the run's fault");
    case Cause::cpu_limit:
    case Cause::memory_limit:
    case Cause::file_size_limit:
    case Cause::output_limit:
    case Cause::syscall_denied:
      return killed(run, result.detail);
    case Cause::pids_limit:
      return fmt::format("failed after {}: {} (profile {})", readable_seconds(result.duration_s),
                         result.detail, run.profile);
    case Cause::killed_by_request:
      return fmt::format("killed after {}: it was asked for", readable_seconds(result.duration_s));
    case Cause::shutdown:
      return fmt::format("killed after {}: the daemon shut down",
                         readable_seconds(result.duration_s));
    case Cause::daemon_restart:
      return "lost: the daemon was killed while it ran";
    case Cause::cannot_execute:
      return "cannot " + result.detail;  // "execute the program: No such file or directory"
    case Cause::cannot_isolate:
      return fmt::format("cannot isolate: {}; the program did not run (profile {})", result.detail,
                         run.profile);
    case Cause::tampered:
      return "tampered with: " + result.detail;
    case Cause::internal:
      return "internal fault: " + result.detail;
  }
  return "internal fault: " + result.detail;
}

std::string report(const RunRecord& run) {
  Report report;
  report.heading("paddock report");
  report_ending(run, report);
  report_confinement(run, report);
  return report.take();
}

}  // namespace paddock::supervisor::cli
