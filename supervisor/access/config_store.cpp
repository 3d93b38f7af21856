#include "supervisor/access/config_store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "kernel/policy/names.hpp"
#include "kernel/policy/toml_directory.hpp"
#include "kernel/policy/toml_reader.hpp"
#include "supervisor/access/token.hpp"
#include "supervisor/runtimes/parse_runtime.hpp"

namespace paddock::supervisor {
namespace {

// Where a template names its tenant. Read again, and only for a mistake: the templates themselves
// do not carry places.
kernel::Place place_of_tenant(const std::string& file) {
  const auto text = kernel::read_trusted_file(file);
  if (!text) return {};
  std::vector<kernel::Diagnostic> ignored;
  const auto reader = kernel::TomlReader::parse(*text, file, ignored);
  return reader ? reader->place("", "tenant") : kernel::Place{};
}

void check_agents(const kernel::Catalog& catalog, const AccessRules& rules,
                  std::vector<kernel::Diagnostic>& diagnostics) {
  std::vector<std::string> known;
  for (const Tenant& tenant : rules.tenants) known.push_back(tenant.name);
  for (const auto& [name, agent] : catalog.agents) {
    if (agent.tenant.empty() || std::find(known.begin(), known.end(), agent.tenant) != known.end())
      continue;
    const std::string nearest = kernel::nearest_name(agent.tenant, known);
    const std::string hint = !nearest.empty() ? "did you mean '" + nearest + "'?"
                             : known.empty()  ? "access.toml has none"
                                              : "known are " + kernel::quoted_list(known);
    const kernel::Place place = place_of_tenant(agent.source);
    diagnostics.push_back(
        {agent.source, place.line, place.column, "unknown tenant '" + agent.tenant + "'; " + hint});
  }
}

}  // namespace

std::vector<kernel::Diagnostic> ConfigStore::reload() {
  kernel::LoadResult loaded = catalog_.load();
  std::vector<kernel::Diagnostic> of_access;
  const std::string file = find_access_file();
  AccessRules access = read_access(file, loaded, of_access);
  // Only where both are whole: a tenant may stand in what could not be read.
  if (!file.empty() && loaded.ok() && of_access.empty())
    check_agents(loaded.catalog, access, of_access);
  std::vector<kernel::Diagnostic> of_runtimes;
  Runtimes runtimes = load_runtimes(runtime_directories_,
                                    loaded.ok() ? &loaded.catalog.profiles : nullptr, of_runtimes);
  std::vector<kernel::Diagnostic> of_token;
  std::string token = read_token(of_token);
  for (const auto& more : {of_access, of_runtimes, of_token})
    loaded.diagnostics.insert(loaded.diagnostics.end(), more.begin(), more.end());
  if (loaded.ok()) {
    runtimes_ = std::move(runtimes);
    access_ = std::move(access);
    token_ = std::move(token);
    has_access_file_ = !file.empty();
  }
  return catalog_.replace(std::move(loaded));
}

std::vector<std::string> ConfigStore::agents_of_nobody() const {
  std::vector<std::string> names;
  if (has_access_file_) return names;
  for (const auto& [name, agent] : catalog().agents)
    if (!agent.tenant.empty()) names.push_back(name);
  return names;
}

std::string ConfigStore::find_access_file() const {
  std::string file = access_file_;
  for (const std::string& candidate : default_access_files_) {
    struct stat status {};
    // One that is there and cannot be looked at is no reason to go on without rules.
    if (file.empty() && (::stat(candidate.c_str(), &status) == 0 || errno != ENOENT))
      file = candidate;
  }
  return file;
}

AccessRules ConfigStore::read_access(const std::string& file, const kernel::LoadResult& loaded,
                                     std::vector<kernel::Diagnostic>& diagnostics) const {
  if (file.empty()) return {};
  const auto text = kernel::read_trusted_file(file);
  if (!text) {
    diagnostics.push_back({file, 0, 0, text.error().message});
    return {};
  }
  AccessContext context = host_access_context(host_uids_);
  if (loaded.ok()) {
    context.profiles.emplace();
    for (const auto& [name, profile] : loaded.catalog.profiles) context.profiles->insert(name);
  }
  return parse_access(*text, file, context, diagnostics);
}

std::string ConfigStore::read_token(std::vector<kernel::Diagnostic>& diagnostics) const {
  if (token_file_.empty()) return {};
  auto token = read_token_file(token_file_);
  if (token) return std::move(*token);
  diagnostics.push_back({token_file_, 0, 0, token.error().message});
  return {};
}

}  // namespace paddock::supervisor
