#include "supervisor/recovery/launchers.hpp"

#include <charconv>
#include <filesystem>

#include "supervisor/runs/run_record.hpp"
#include "supervisor/warm/zygote_name.hpp"

namespace paddock::supervisor {
namespace {

constexpr std::size_t proc_file_bytes_max = 64u << 10;

std::string proc_file(pid_t pid, const char* name) {
  return kernel::read_file("/proc/" + std::to_string(pid) + "/" + name, proc_file_bytes_max)
      .value_or("");
}

// Up to the next NUL, which is taken away too.
std::string_view take_argument(std::string_view& words) {
  const std::size_t end = words.find('\0');
  const std::string_view word = words.substr(0, end);
  words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  return word;
}

}  // namespace

std::optional<std::string> run_of_launcher(std::string_view cmdline) {
  // Inside bubblewrap it was executed by its path there.
  const std::string_view program = take_argument(cmdline);
  if (program != "paddock-launch" && !program.starts_with("/proc/self/fd/")) return std::nullopt;
  const std::string_view role = take_argument(cmdline);
  const std::string_view run = take_argument(cmdline);
  const bool is_ours = is_run_id(run) || is_zygote_name(run);
  if ((role != "guard" && role != "init") || !is_ours || !cmdline.empty()) return std::nullopt;
  return std::string(run);
}

std::optional<uid_t> real_uid_in(std::string_view status) {
  constexpr std::string_view key = "\nUid:\t";
  const std::size_t at = status.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  status.remove_prefix(at + key.size());
  uid_t uid = 0;
  if (std::from_chars(status.data(), status.data() + status.size(), uid).ec != std::errc())
    return std::nullopt;
  return uid;
}

std::optional<uid_t> real_uid_of(pid_t pid) {
  return real_uid_in(proc_file(pid, "status"));
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

std::map<std::string, std::vector<kernel::ProcessMark>> launchers_by_run(
    const std::function<bool(uid_t)>& is_ours) {
  std::map<std::string, std::vector<kernel::ProcessMark>> launchers;
  for (const pid_t pid : all_processes()) {
    // The mark comes first: should the pid change hands meanwhile, it is nobody's.
    const auto mark = kernel::mark_of(pid);
    const auto run = run_of_launcher(proc_file(pid, "cmdline"));
    if (!mark || !run) continue;
    const auto uid = real_uid_of(pid);
    if (uid && is_ours(*uid)) launchers[*run].push_back(*mark);
  }
  return launchers;
}

}  // namespace paddock::supervisor
