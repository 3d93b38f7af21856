#include "supervisor/access/config_store.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "kernel/policy/toml_directory.hpp"

namespace paddock::supervisor {

std::vector<kernel::Diagnostic> ConfigStore::reload() {
  kernel::LoadResult loaded = catalog_.load();
  std::vector<kernel::Diagnostic> of_access;
  AccessRules access = read_access(loaded, of_access);
  loaded.diagnostics.insert(loaded.diagnostics.end(), of_access.begin(), of_access.end());
  if (loaded.ok()) access_ = std::move(access);
  return catalog_.replace(std::move(loaded));
}

AccessRules ConfigStore::read_access(const kernel::LoadResult& loaded,
                                     std::vector<kernel::Diagnostic>& diagnostics) const {
  std::string file = access_file_;
  for (const std::string& candidate : default_access_files_) {
    struct stat status {};
    // One that is there and cannot be looked at is no reason to go on without rules.
    if (file.empty() && (::stat(candidate.c_str(), &status) == 0 || errno != ENOENT))
      file = candidate;
  }
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

}  // namespace paddock::supervisor
