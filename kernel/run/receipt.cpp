#include "kernel/run/receipt.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <sstream>

#include "kernel/base/fd.hpp"
#include "kernel/confine/rlimits.hpp"

namespace paddock::kernel {
namespace {

constexpr std::size_t proc_file_bytes_max = 64 * 1024;
constexpr std::array namespaces = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};

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

// "soft" if both values are the same, else "soft/hard": a soft limit below the hard one is no
// limit.
std::string limit_of(const std::string& limits, const RlimitRow& row) {
  std::istringstream words(field(limits, row.proc_name));
  std::string soft;
  std::string hard;
  words >> soft >> hard;
  return soft == hard ? soft : soft + "/" + hard;
}

// Every capability that the process has, could raise, or would pass on: the union of four sets. The
// fifth, the bounding set, gives nothing under no_new_privs.
std::string capabilities_of(const std::string& status) {
  std::uint64_t all = 0;
  for (const char* set : {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"}) {
    const std::string hex = field(status, set);
    std::uint64_t bits = ~std::uint64_t{0};  // what cannot be read is not zero
    std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
    all |= bits;
  }
  return fmt::format("{:016x}", all);
}

std::string link_target(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return size < 0 ? std::string() : std::string(target, static_cast<std::size_t>(size));
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

Result<Receipt> observe(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid) + "/";
  const std::string status = TRY(read_file(proc + "status", proc_file_bytes_max));
  const std::string limits = TRY(read_file(proc + "limits", proc_file_bytes_max));
  const std::string cgroups = TRY(read_file(proc + "cgroup", proc_file_bytes_max));

  Receipt receipt;
  receipt.pid = pid;
  const std::string uid = field(status, "Uid:");
  std::from_chars(uid.data(), uid.data() + uid.size(), receipt.host_uid);
  receipt.no_new_privs = field(status, "NoNewPrivs:") == "1";
  receipt.capabilities = capabilities_of(status);
  receipt.cgroup = field(cgroups, "0::");
  for (const RlimitRow& row : rlimit_rows) receipt.rlimits[row.name] = limit_of(limits, row);
  for (std::size_t i = 0; i < namespaces.size(); ++i) {
    const std::string path = proc + "ns/" + namespaces[i];
    const std::string theirs = link_target(path);
    if (theirs.empty()) return fail_errno("read '" + path + "'");
    // Ours anew each time: a program around this library may have moved to others since.
    if (theirs != link_target(std::string("/proc/self/ns/") + namespaces[i]))
      receipt.new_namespaces.emplace_back(namespaces[i]);
  }
  return receipt;
}

std::vector<std::string> compare(const Plan& plan, const Receipt& receipt) {
  std::vector<std::string> differences;
  const auto check = [&](const std::string& what, const std::string& planned,
                         const std::string& seen) {
    if (planned != seen) differences.push_back(what + " is " + seen + ", planned " + planned);
  };
  for (const Rlimit& limit : plan.launch.rlimits) {
    const auto row = std::find_if(rlimit_rows.begin(), rlimit_rows.end(),
                                  [&](const RlimitRow& r) { return r.resource == limit.resource; });
    const auto seen = receipt.rlimits.find(row->name);
    check(row->name, std::to_string(limit.value),
          seen == receipt.rlimits.end() ? "not seen" : seen->second);
  }
  check("the list of new namespaces", joined(plan.new_namespaces), joined(receipt.new_namespaces));
  if (plan.host_uid)
    check("the host uid", std::to_string(*plan.host_uid), std::to_string(receipt.host_uid));
  if (!receipt.no_new_privs) differences.emplace_back("no_new_privs is not set");
  check("the set of capabilities", "0000000000000000", receipt.capabilities);
  return differences;
}

}  // namespace paddock::kernel
