#include "kernel/probe/host_readings.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>

#include <charconv>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {
namespace {

constexpr std::size_t text_bytes_max = 256 * 1024;

std::string text_of(const std::string& path) {
  return read_file(path, text_bytes_max).value_or("");
}

std::optional<long> setting(const std::string& name) {
  const std::string text = text_of("/proc/sys/" + name);
  long value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

bool proc_has_hidepid() {
  const std::string mounts = text_of("/proc/self/mounts");
  for (std::size_t begin = 0; begin < mounts.size();) {
    const std::size_t end = std::min(mounts.find('\n', begin), mounts.size());
    const std::string line = mounts.substr(begin, end - begin);
    begin = end + 1;
    if (line.find(" /proc proc ") != std::string::npos &&
        line.find("hidepid=") != std::string::npos)
      return line.find("hidepid=0") == std::string::npos &&
             line.find("hidepid=off") == std::string::npos;
  }
  return false;
}

// Whoever can write one of them decides what is executed as bubblewrap.
std::vector<FileReading> read_path(std::string path) {
  std::vector<FileReading> readings;
  while (!path.empty()) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) {
      const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
      readings.push_back({path, info.st_uid, !sticky && (info.st_mode & (S_IWGRP | S_IWOTH)) != 0});
    }
    if (path == "/") break;
    path.resize(std::max<std::size_t>(path.rfind('/'), 1));
  }
  return readings;
}

}  // namespace

HostReadings read_host(const std::string& bubblewrap) {
  HostReadings readings;
  readings.max_user_namespaces = setting("user/max_user_namespaces");
  readings.unprivileged_userns_clone = setting("kernel/unprivileged_userns_clone");
  readings.apparmor_restricts_userns = setting("kernel/apparmor_restrict_unprivileged_userns");
  readings.ptrace_scope = setting("kernel/yama/ptrace_scope");
  readings.legacy_tiocsti = setting("dev/tty/legacy_tiocsti");
  readings.core_pattern = first_line(text_of("/proc/sys/kernel/core_pattern"));
  readings.filtered = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
  readings.hidepid = proc_has_hidepid();
  const std::string swaps = text_of("/proc/swaps");  // a heading, then a line for each
  readings.swap = swaps.find('\n') + 1 < swaps.size();
  readings.bubblewrap = read_path(bubblewrap);
  return readings;
}

}  // namespace paddock::kernel
