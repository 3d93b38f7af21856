#include "support/plan_text.hpp"
#include "kernel/policy/choices.hpp"

#include <algorithm>
#include <sstream>

#include "kernel/confine/rlimits.hpp"

using namespace paddock::kernel;

namespace {

std::string words(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) out += " " + value;
  return out;
}

std::string name_of_resource(int resource) {
  const auto row = std::find_if(rlimit_rows.begin(), rlimit_rows.end(),
                                [&](const RlimitRow& r) { return r.resource == resource; });
  return row == rlimit_rows.end() ? "unknown" : row->name;
}

template <class T>
std::string or_none(const std::optional<T>& value) {
  if (!value) return "none";
  std::ostringstream out;
  out << *value;
  return out.str();
}

std::string escaped(const std::string& contents) {
  std::string out;
  for (const char c : contents) out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  return out;
}

}  // namespace

std::string option_lines(const std::vector<std::string>& arguments) {
  std::string out;
  for (const std::string& word : arguments) {
    if (!out.empty()) out += word.starts_with("--") ? "\n" : " ";
    out += word.empty() ? "''" : word;
  }
  return out + "\n";
}

std::string plan_text(const Plan& plan) {
  std::ostringstream out;
  out << "profile: " << plan.profile << "\n";
  out << "role: " << plan.role << "\n";
  out << "wrapper:" << words(plan.launch.wrapper) << "\n";
  out << "argv:" << words(plan.launch.argv) << "\n";
  for (const std::string& variable : plan.launch.environment)
    out << "environment: " << variable << "\n";
  out << "workdir: " << plan.launch.workdir << "\n";
  for (const Rlimit& limit : plan.launch.rlimits)
    out << "rlimit: " << name_of_resource(limit.resource) << " " << limit.value << "\n";
  out << "new_session: " << plan.launch.new_session << "\n";
  out << "own_user_namespace: " << plan.launch.own_user_namespace << "\n";
  out << "new_namespaces:" << words(plan.new_namespaces) << "\n";
  for (const Mount& mount : plan.mounts) out << "mount: " << to_string(mount) << "\n";
  out << "landlock: abi=" << plan.launch.landlock.abi << std::hex
      << " handled_file=" << plan.launch.landlock.handled_file
      << " scoped=" << plan.launch.landlock.scoped << "\n";
  for (const LandlockRule& rule : plan.launch.landlock.allowed)
    out << "landlock allows: " << rule.access << " " << rule.path << "\n";
  out << std::dec;
  // Not its hash: that changes with each release of libseccomp.
  out << "filter: " << (plan.launch.filter.empty() ? "none" : "one") << "\n";
  out << "host_uid: " << or_none(plan.launch.host_uid) << "\n";
  out << "cgroup: " << name_of(plan.cgroup.use) << " memory_max=" << or_none(plan.cgroup.memory_max)
      << " pids_max=" << or_none(plan.cgroup.pids_max)
      << " cpu_max=" << or_none(plan.cgroup.cpu_max) << "\n";
  out << "wall_clock_ms: " << (plan.wall_clock ? std::to_string(plan.wall_clock->count()) : "none")
      << "\n";
  out << "grace_ms: " << plan.grace.count() << "\n";
  out << "output_bytes: " << plan.output_bytes << "\n";
  out << "output_stop_bytes: "
      << (plan.output_stop_bytes ? std::to_string(*plan.output_stop_bytes) : "unlimited") << "\n";
  out << "degraded:" << words(plan.degraded) << "\n";
  for (const auto& [fd, contents] : plan.files)
    out << "file " << fd << ": " << escaped(contents) << "\n";
  if (!plan.bubblewrap.empty()) out << "bubblewrap:\n" << option_lines(plan.bubblewrap);
  return out.str();
}
