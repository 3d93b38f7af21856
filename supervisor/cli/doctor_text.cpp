#include "supervisor/cli/doctor_text.hpp"

#include <fmt/format.h>

#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/table.hpp"

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

std::vector<std::string> row_of(const ProfileHealth& profile) {
  if (!profile.available) return {"  " + profile.name, "no", profile.problem};
  return {"  " + profile.name, "yes",
          profile.degraded.empty() ? "" : fmt::format("but {}", fmt::join(profile.degraded, " "))};
}

}  // namespace

Result<std::string> doctor_text(std::string_view host_json, const std::string& daemon,
                                const std::vector<ProfileHealth>& profiles) {
  return render<std::string>(host_json, [&](const ordered_json& host) {
    std::string text = "host\n";
    text += table({{"  daemon", daemon.empty() ? "none: this command looked by itself" : daemon},
                   {"  kernel", host.at("kernel").get<std::string>()},
                   {"  user", user_text(host)},
                   {"  bubblewrap", bubblewrap_text(host)},
                   {"  user namespaces", user_namespaces_text(host)},
                   {"  cgroup v2", cgroup_text(host)}});
    text += "\nprofiles, each tried with a run of `true`\n";
    std::vector<std::vector<std::string>> rows;
    rows.reserve(profiles.size());
    for (const ProfileHealth& profile : profiles) rows.push_back(row_of(profile));
    return text + table(rows);
  });
}

Result<std::string> doctor_json(std::string_view host_json, const std::string& daemon,
                                const std::vector<ProfileHealth>& profiles) {
  return render<std::string>(host_json, [&](const ordered_json& host) {
    ordered_json list = ordered_json::array();
    for (const ProfileHealth& profile : profiles)
      list.push_back({{"name", profile.name},
                      {"available", profile.available},
                      {"problem", profile.problem},
                      {"degraded", profile.degraded}});
    ordered_json json = {{"daemon", nullptr}, {"host", host}, {"profiles", std::move(list)}};
    if (!daemon.empty()) json["daemon"] = daemon;
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  });
}

}  // namespace paddock::supervisor::cli
