#include "supervisor/cli/policy_text.hpp"

#include <fmt/format.h>

#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;
using nlohmann::ordered_json;

std::string heading(std::string_view text) {
  return fmt::format("\n# {}\n", text);
}

std::string rlimit_lines(const ordered_json& rlimits) {
  std::string lines;
  for (const auto& [name, value] : rlimits.items())
    lines += fmt::format("{:<13} {}\n", name, value.get<std::uint64_t>());
  return lines.empty() ? "none\n" : lines;
}

std::string words(const ordered_json& list) {
  const auto values = list.get<std::vector<std::string>>();
  return values.empty() ? "none" : fmt::format("{}", fmt::join(values, " "));
}

// One option with its values on each line, so that two policies can be compared with diff.
std::string bubblewrap_lines(const ordered_json& arguments) {
  std::string lines;
  std::vector<std::string> option;
  const auto flush = [&] {
    if (!option.empty()) lines += shell_line(option) + "\n";
    option.clear();
  };
  for (const ordered_json& argument : arguments) {
    std::string word = argument.get<std::string>();
    if (word.starts_with("--")) flush();
    option.push_back(std::move(word));
  }
  flush();
  return lines;
}

std::string lines(const ordered_json& list) {
  std::string text;
  for (const ordered_json& one : list) text += printable(one.get<std::string>()) + "\n";
  return text.empty() ? "none\n" : text;
}

std::string filter_line(const std::string& hash) {
  return hash.empty() ? "none\n" : "sha256 " + hash + "\n";
}

std::string landlock_lines(const ordered_json& landlock) {
  if (landlock.at("abi").get<unsigned>() == 0) return "none\n";
  std::string text = fmt::format("ABI {}\nrefuses, but for what follows: {}\nkeeps inside: {}\n",
                                 landlock.at("abi").get<unsigned>(), words(landlock.at("handled")),
                                 words(landlock.at("scoped")));
  for (const auto& [path, rights] : landlock.at("allowed").items())
    text += fmt::format("below {}: {}\n", printable(path), words(rights));
  return text;
}

std::string cgroup_lines(const ordered_json& plan) {
  const auto leaf = plan.at("cgroup_leaf").get<std::string>();
  if (leaf.empty()) return "none\n";
  std::string text = printable(leaf) + "\n";
  for (const auto& [knob, value] : plan.at("cgroup_knobs").items())
    text += fmt::format("{:<17} {}\n", knob, value.get<std::string>());
  return text;
}

}  // namespace

Result<std::string> policy_text(std::string_view plan_json) {
  return render<std::string>(plan_json, [](const ordered_json& plan) {
    std::string text = "# policy " + plan.at("policy_hash").get<std::string>() + "\n";
    text += plan.at("policy").get<std::string>();

    text += heading("rlimits (soft and hard, set in the program's process)");
    text += rlimit_lines(plan.at("rlimits"));
    text += heading("namespaces of its own");
    text += words(plan.at("namespaces")) + "\n";
    text += heading("mounts; nothing else can be written");
    text += lines(plan.at("mounts"));
    text += heading("system call filter");
    text += filter_line(plan.at("seccomp_sha256").get<std::string>());
    text += heading("Landlock");
    text += landlock_lines(plan.at("landlock"));
    text += heading("cgroup");
    text += cgroup_lines(plan);
    text += heading("host uid");
    const ordered_json& uid = plan.at("host_uid");
    text += uid.is_null()
                ? "that of the supervisor\n"
                : fmt::format("one of its own for each run, from {} on\n", uid.get<unsigned>());
    text += heading("controls that are asked for and missing here");
    text += words(plan.at("degraded")) + "\n";
    text += heading("starts in");
    text += printable(plan.at("workdir").get<std::string>()) + "\n";
    text += heading("environment, and nothing else");
    for (const ordered_json& variable : plan.at("environment"))
      text += printable(variable.get<std::string>()) + "\n";

    const ordered_json& arguments = plan.at("bubblewrap_args");
    text += heading(arguments.empty() ? "bubblewrap: not used" : "bubblewrap");
    text += bubblewrap_lines(arguments);
    return text;
  });
}

}  // namespace paddock::supervisor::cli
