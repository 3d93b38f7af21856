#include "supervisor/cli/doctor_text.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/table.hpp"
#include "supervisor/json/dump.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;
using nlohmann::ordered_json;

std::string bubblewrap_text(const ordered_json& host) {
  const auto path = host.at("bubblewrap").get<std::string>();
  if (path.empty()) return "no: " + host.at("bubblewrap_problem").get<std::string>();
  return path + " " + host.at("bubblewrap_version").get<std::string>();
}

std::string user_namespaces_text(const ordered_json& host) {
  if (host.at("user_namespaces").get<bool>()) return "yes";
  return "no: " + host.at("user_namespaces_problem").get<std::string>();
}

std::string landlock_text(const ordered_json& host) {
  const auto abi = host.at("landlock_abi").get<unsigned>();
  return abi == 0 ? "no" : fmt::format("ABI {}", abi);
}

std::string cgroup_text(const ordered_json& host) {
  const auto base = host.at("cgroup_base").get<std::string>();
  const auto problem = host.at("cgroup_problem").get<std::string>();
  if (base.empty())
    return "none is used: limits hold for each process, not for a run as a whole" +
           (problem.empty() ? "" : "; " + problem);
  const auto controllers = host.at("cgroup_controllers").get<std::vector<std::string>>();
  return fmt::format(
      "{} ({}){}", base,
      controllers.empty() ? "no controllers" : fmt::format("{}", fmt::join(controllers, ", ")),
      problem.empty() ? "" : "; " + problem);
}

std::string user_text(const ordered_json& host) {
  const auto uid = host.at("uid").get<unsigned>();
  return uid == 0 ? "root: each run gets a host uid of its own" : fmt::format("uid {}", uid);
}

using Rows = std::vector<std::vector<std::string>>;

std::string host_text(const ordered_json& host, const std::string& daemon) {
  const Rows rows = {
      {"  daemon", daemon.empty() ? "none: this command tried by itself"
                                  : daemon + ": it tried when it started or reloaded"},
      {"  kernel", host.at("kernel").get<std::string>()},
      {"  user", user_text(host)},
      {"  bubblewrap", bubblewrap_text(host)},
      {"  user namespaces", user_namespaces_text(host)},
      {"  landlock", landlock_text(host)},
      {"  seccomp", host.at("seccomp").get<bool>() ? "yes" : "no"},
      {"  cgroup v2", cgroup_text(host)}};
  return "host\n" + table(rows);
}

// Names of `list`'s objects for which `matches` holds.
template <class Matches>
std::vector<std::string> names_in(const ordered_json& list, Matches matches) {
  std::vector<std::string> names;
  for (const ordered_json& object : list)
    if (matches(object)) names.push_back(object.at("name").get<std::string>());
  return names;
}

bool has_verdict(const ordered_json& probe, const char* verdict) {
  return probe.at("verdict").get<std::string>() == verdict;
}

std::string verdict_text(const ordered_json& profile) {
  const ordered_json& list = profile.at("missing");
  const auto required =
      names_in(list, [](const auto& m) { return m.at("required").template get<bool>(); });
  // Their causes are among the findings.
  if (!required.empty())
    return fmt::format("no, it requires what is missing: {}", fmt::join(required, ", "));
  const auto refused = profile.at("refused").get<std::string>();
  if (!refused.empty()) return "no: " + refused;
  const auto missing = names_in(list, [](const auto&) { return true; });
  return missing.empty() ? "yes" : fmt::format("runs, without {}", fmt::join(missing, ", "));
}

std::string probes_text(const ordered_json& profile) {
  const ordered_json& probes = profile.at("probes");
  if (probes.empty()) return "not probed";
  const auto passed = names_in(probes, [](const auto& p) { return has_verdict(p, "passed"); });
  std::string text = fmt::format("{} of {} probes stopped", passed.size(), probes.size());
  const auto failed = names_in(probes, [](const auto& p) { return has_verdict(p, "failed"); });
  if (!failed.empty()) text += fmt::format("; got through: {}", fmt::join(failed, ", "));
  const auto open = names_in(probes, [](const auto& p) { return has_verdict(p, "unsupported"); });
  if (!open.empty()) text += fmt::format("; this host cannot tell: {}", fmt::join(open, ", "));
  return text;
}

std::string profiles_text(const ordered_json& profiles) {
  Rows rows;
  for (const ordered_json& profile : profiles) {
    rows.push_back({"  " + profile.at("name").get<std::string>(), verdict_text(profile)});
    rows.push_back({"", probes_text(profile)});
  }
  return "\nprofiles: enforced here as they are written?\n" + table(rows);
}

std::string languages_text(const ordered_json& languages) {
  Rows rows;
  for (const ordered_json& language : languages) {
    const auto version = language.at("version").get<std::string>();
    std::string text = version.empty() ? "its version is not known" : version;
    if (!language.at("there").get<bool>())
      text = fmt::format("no: {}; mend: {}", language.at("cause").get<std::string>(),
                         language.at("fix").get<std::string>());
    rows.push_back({"  " + language.at("name").get<std::string>(), std::move(text)});
  }
  return "\nlanguages\n" + (rows.empty() ? "  none: there is no runtime\n" : table(rows));
}

std::string findings_text(const ordered_json& findings) {
  if (findings.empty()) return {};
  Rows rows;
  for (const ordered_json& finding : findings) {
    const auto profiles = finding.at("profiles").get<std::vector<std::string>>();
    rows.push_back({"  " + finding.at("severity").get<std::string>(),
                    finding.at("name").get<std::string>() +
                        (profiles.empty() ? "" : fmt::format(": {}", fmt::join(profiles, ", ")))});
    rows.push_back({"", finding.at("cause").get<std::string>()});
    rows.push_back({"", "mend: " + finding.at("fix").get<std::string>()});
  }
  return "\nfindings\n" + table(rows);
}

}  // namespace

Result<std::string> doctor_text(const DoctorAnswers& answers) {
  return render<std::string>(answers.host, [&](const ordered_json& host) {
    const ordered_json doctor = ordered_json::parse(answers.doctor);
    return host_text(host, answers.daemon) + profiles_text(doctor.at("profiles")) +
           languages_text(doctor.at("languages")) + findings_text(doctor.at("findings"));
  });
}

Result<std::string> doctor_json(const DoctorAnswers& answers) {
  return render<std::string>(answers.host, [&](const ordered_json& host) {
    const ordered_json doctor = ordered_json::parse(answers.doctor);
    ordered_json json = {{"daemon", nullptr},
                         {"host", host},
                         {"findings", doctor.at("findings")},
                         {"profiles", doctor.at("profiles")},
                         {"languages", doctor.at("languages")}};
    if (!answers.daemon.empty()) json["daemon"] = answers.daemon;
    return dump_line(json);
  });
}

Result<bool> is_enforced(const DoctorAnswers& answers, const std::string& profile) {
  const auto enforced =
      TRY(render<std::optional<bool>>(answers.doctor, [&](const ordered_json& doctor) {
        std::optional<bool> found;
        for (const ordered_json& one : doctor.at("profiles"))
          if (one.at("name") == profile) found = one.at("enforced").get<bool>();
        return found;
      }));
  if (enforced) return *enforced;
  return kernel::fail(kernel::ErrorCode::unknown_profile, "no profile '" + profile + "'");
}

}  // namespace paddock::supervisor::cli
