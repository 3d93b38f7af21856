#include "kernel/policy/load.hpp"

#include <fmt/format.h>

#include "kernel/policy/names.hpp"
#include "kernel/policy/parse.hpp"
#include "kernel/policy/policy.hpp"
#include "kernel/policy/toml_directory.hpp"

namespace paddock::kernel {
namespace {

std::string place_text(const std::string& file, Place place) {
  return fmt::format("{}:{}", file, place.line);
}

class Loader {
 public:
  LoadResult load(const std::vector<std::string>& profile_directories,
                  const std::vector<std::string>& agent_directories) && {
    for (const std::string& directory : profile_directories) load_profiles(directory);
    for (const std::string& directory : agent_directories) load_agents(directory);
    for (const auto& [name, parsed] : agents_) check_agent(parsed);

    Catalog& catalog = result_.catalog;
    for (auto& [name, parsed] : profiles_) {
      if (parsed.valid) catalog.profiles.emplace(name, std::move(parsed.profile));
    }
    for (auto& [name, parsed] : agents_) {
      if (parsed.valid) catalog.agents.emplace(name, std::move(parsed.agent));
    }
    return std::move(result_);
  }

 private:
  void report(const std::string& file, Place place, std::string message) {
    result_.diagnostics.push_back({file, place.line, place.column, std::move(message)});
  }

  // Names seen so far in one directory, and where.
  using Seen = std::map<std::string, std::string>;

  void check_unique(Seen& seen, const std::string& name, const std::string& file, Place place) {
    const auto [first, added] = seen.emplace(name, place_text(file, place));
    if (added) return;
    report(file, place, fmt::format("name '{}' is already used at {}", name, first->second));
  }

  void load_profiles(const std::string& directory) {
    Seen seen;
    const std::size_t before = result_.diagnostics.size();
    const std::vector<TomlFile> files = read_toml_directory(directory, result_.diagnostics);
    if (result_.diagnostics.size() != before) profiles_unread_ = true;
    for (const TomlFile& file : files) {
      ParsedProfile parsed = read_profile(file.text, file.path, result_.diagnostics);
      const std::string name = parsed.profile.name;
      if (!is_name(name)) {
        profiles_unread_ = true;
        continue;
      }
      check_unique(seen, name, file.path, parsed.name_place);
      profiles_.insert_or_assign(name, std::move(parsed));
    }
  }

  void load_agents(const std::string& directory) {
    Seen seen;
    for (const TomlFile& file : read_toml_directory(directory, result_.diagnostics)) {
      ParsedAgent parsed = read_agent(file.text, file.path, result_.diagnostics);
      const std::string name = parsed.agent.name;
      if (!is_name(name)) continue;
      check_unique(seen, name, file.path, parsed.name_place);
      agents_.insert_or_assign(name, std::move(parsed));
    }
  }

  // An agent must be able to run: its profile exists and the two together make a valid policy.
  void check_agent(const ParsedAgent& parsed) {
    if (!parsed.valid) return;
    const AgentTemplate& agent = parsed.agent;
    const auto profile = profiles_.find(agent.profile);
    if (profile == profiles_.end()) {
      if (profiles_unread_) return;  // it may be in there
      report(agent.source, parsed.profile_place, unknown_profile_message(agent.profile));
      return;
    }
    if (!profile->second.valid) return;  // its own mistakes are reported already
    const auto policy = resolve(profile->second.profile, Request{}, &agent);
    const auto checked = policy ? check_policy(*policy) : tl::unexpected<Error>(policy.error());
    if (!checked) {
      report(agent.source, parsed.profile_place,
             fmt::format("under profile '{}': {}", agent.profile, checked.error().message));
    }
  }

  std::string unknown_profile_message(const std::string& name) const {
    std::vector<std::string> known;
    for (const auto& [profile, parsed] : profiles_) known.push_back(profile);
    const std::string nearest = nearest_name(name, known);
    if (!nearest.empty()) {
      return fmt::format("unknown profile '{}'; did you mean '{}'?", name, nearest);
    }
    if (known.empty()) return fmt::format("unknown profile '{}'; there are none", name);
    return fmt::format("unknown profile '{}'; known are {}", name, quoted_list(known));
  }

  // By name, invalid ones too: an agent of a broken profile is not a second mistake.
  std::map<std::string, ParsedProfile> profiles_;
  std::map<std::string, ParsedAgent> agents_;
  bool profiles_unread_ = false;  // some file's profile could not even be named
  LoadResult result_;
};

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  // One mistake, one line, whatever the file's own words in the message hold.
  std::string message;
  for (const char c : diagnostic.message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      message += fmt::format("\\x{:02x}", byte);
    } else {
      message += c;
    }
  }
  if (diagnostic.line == 0) return fmt::format("{}: {}", diagnostic.file, message);
  return fmt::format("{}:{}:{}: {}", diagnostic.file, diagnostic.line, diagnostic.column, message);
}

LoadResult load_catalog(const std::vector<std::string>& profile_directories,
                        const std::vector<std::string>& agent_directories) {
  return Loader().load(profile_directories, agent_directories);
}

}  // namespace paddock::kernel
