#pragma once
// CatalogStore: the profiles and agents that the daemon serves now, and how they are replaced: all
// of them as one value, or not at all.

#include <string>
#include <vector>

#include "kernel/policy/load.hpp"

namespace paddock::supervisor {

class CatalogStore {
 public:
  CatalogStore(std::vector<std::string> profile_directories,
               std::vector<std::string> agent_directories)
      : profile_directories_(std::move(profile_directories)),
        agent_directories_(std::move(agent_directories)) {}

  // Reads everything again, and changes nothing yet.
  kernel::LoadResult load() const {
    return kernel::load_catalog(profile_directories_, agent_directories_);
  }

  // Puts what was loaded in force if there is no mistake in it. Otherwise every mistake comes back;
  // the set that was in force stays, and stale() is true until a later one is without.
  std::vector<kernel::Diagnostic> replace(kernel::LoadResult loaded) {
    stale_ = !loaded.ok();
    if (loaded.ok()) catalog_ = std::move(loaded.catalog);
    return std::move(loaded.diagnostics);
  }

  std::vector<kernel::Diagnostic> reload() { return replace(load()); }

  const kernel::Catalog& catalog() const { return catalog_; }
  bool stale() const { return stale_; }

 private:
  std::vector<std::string> profile_directories_;
  std::vector<std::string> agent_directories_;
  kernel::Catalog catalog_;
  bool stale_ = true;  // nothing is in force yet
};

}  // namespace paddock::supervisor
