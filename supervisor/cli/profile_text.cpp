#include "supervisor/cli/profile_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "kernel/policy/units.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/table.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;
using nlohmann::ordered_json;

std::string isolation_of(const ordered_json& profile) {
  const ordered_json& isolation = profile.at("isolation");
  if (!isolation.at("use_bubblewrap").get<bool>()) return "limits only";
  return isolation.at("deny_network").get<bool>() ? "sandbox, no network" : "sandbox";
}

std::string wall_clock_of(const ordered_json& profile) {
  const ordered_json& seconds = profile.at("limits").at("wall_seconds");
  return seconds.is_null() ? "-" : fmt::format("{} s", seconds.get<double>());
}

bool is_size(std::string_view key) {
  return key.ends_with("_bytes") || key == "memory_max" || key == "core_size";
}

// JSON's strings, lists and numbers are TOML's, too; tables differ.
std::string toml_value(const std::string& key, const ordered_json& value) {
  if (is_size(key) && value.is_number_unsigned() && value.get<std::uint64_t>() > 0)
    return fmt::format("\"{}\"", kernel::format_bytes(value.get<std::uint64_t>()));
  if (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()) &&
      key.ends_with("_seconds"))
    return fmt::format("{:.0f}", value.get<double>());
  if (value.is_object()) {
    std::string table;
    for (const auto& [name, content] : value.items())
      table += (table.empty() ? "" : ", ") + ordered_json(name).dump() + " = " + content.dump();
    return "{" + table + "}";
  }
  return value.dump();
}

std::string toml_lines(const ordered_json& table) {
  std::string lines;
  // A profile without a sandbox has no sizes of what is in one, and may not name them.
  const bool no_sandbox = table.contains("use_bubblewrap") && !table["use_bubblewrap"].get<bool>();
  for (const auto& [key, value] : table.items()) {
    if (no_sandbox && is_size(key)) continue;
    if (value.is_null()) {
      lines += fmt::format("# {:<15} = unlimited\n", key);
    } else {
      lines += fmt::format("{:<17} = {}\n", key, toml_value(key, value));
    }
  }
  return lines;
}

}  // namespace

Result<std::string> profile_list_text(std::string_view profiles_json) {
  return render<std::string>(profiles_json, [](const ordered_json& json) {
    std::vector<std::vector<std::string>> rows = {{"NAME", "ISOLATION", "TIME", "DESCRIPTION"}};
    for (const ordered_json& profile : json.at("profiles"))
      rows.push_back({profile.at("name").get<std::string>(), isolation_of(profile),
                      wall_clock_of(profile), profile.at("description").get<std::string>()});
    return table(rows);
  });
}

Result<std::string> profile_show_text(std::string_view profile_json) {
  return render<std::string>(profile_json, [](const ordered_json& json) {
    std::string text = "# from " + printable(json.at("source").get<std::string>()) + "\n";
    std::string tables;
    for (const auto& [key, value] : json.items()) {
      if (value.is_object()) {
        tables += "\n[" + key + "]\n" + toml_lines(value);
      } else if (key != "source") {
        text += fmt::format("{:<11} = {}\n", key, value.dump());
      }
    }
    return text + tables;
  });
}

}  // namespace paddock::supervisor::cli
