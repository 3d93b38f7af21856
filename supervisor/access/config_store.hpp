#pragma once
// ConfigStore: what the daemon reads again at a reload: profiles, agents, runtimes, access.toml and
// the token of TCP. All of it is put in force together, or nothing is.

#include <string>
#include <vector>

#include "supervisor/access/access_rules.hpp"
#include "supervisor/access/parse_access.hpp"
#include "supervisor/config/catalog_store.hpp"
#include "supervisor/runtimes/runtime.hpp"

namespace paddock::supervisor {

class ConfigStore {
 public:
  // `access_file`: empty if `default_access_files` are looked for; the first that exists counts.
  // `token_file`: empty if there is no TCP.
  ConfigStore(CatalogStore catalog, std::string access_file,
              std::vector<std::string> default_access_files, kernel::HostUidRange host_uids,
              std::vector<std::string> runtime_directories = {}, std::string token_file = {})
      : catalog_(std::move(catalog)),
        access_file_(std::move(access_file)),
        default_access_files_(std::move(default_access_files)),
        host_uids_(host_uids),
        runtime_directories_(std::move(runtime_directories)),
        token_file_(std::move(token_file)) {}

  // Reads everything again. Empty: the new set is in force. Otherwise every mistake; the set that
  // was in force stays, and stale() is true until a later reload succeeds.
  std::vector<kernel::Diagnostic> reload();

  const kernel::Catalog& catalog() const { return catalog_.catalog(); }
  const CatalogStore& catalogs() const { return catalog_; }
  const AccessRules& access() const { return access_; }
  const Runtimes& runtimes() const { return runtimes_; }
  const std::string& token() const { return token_; }  // empty: there is no TCP
  bool stale() const { return catalog_.stale(); }
  // Agents of the set in force that belong to a tenant while there is no access.toml: nobody can be
  // that tenant. With one, such an agent is a mistake.
  std::vector<std::string> agents_of_nobody() const;

 private:
  std::string find_access_file() const;  // empty: there is none
  AccessRules read_access(const std::string& file, const kernel::LoadResult& loaded,
                          std::vector<kernel::Diagnostic>& diagnostics) const;
  std::string read_token(std::vector<kernel::Diagnostic>& diagnostics) const;

  CatalogStore catalog_;
  std::string access_file_;
  std::vector<std::string> default_access_files_;
  kernel::HostUidRange host_uids_;
  std::vector<std::string> runtime_directories_;
  std::string token_file_;
  Runtimes runtimes_;
  AccessRules access_;
  std::string token_;
  bool has_access_file_ = false;
};

}  // namespace paddock::supervisor
