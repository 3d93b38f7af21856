#pragma once
// KeyStore: the tenants' keys in STATE_DIR/keys, one file each.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kernel/base/error.hpp"
#include "supervisor/verify/mac.hpp"

namespace paddock::supervisor {

std::string to_hex(const MacKey& key);  // 64 characters: the key itself

class KeyStore {
 public:
  explicit KeyStore(const std::string& state_directory);

  // Nothing if the tenant has no key. A file is read once, and again when it is another one. Fails
  // with internal if there is a file and it cannot be trusted or is no key: then nothing may go out
  // in the tenant's name without a code, as if it had no key.
  kernel::Result<std::optional<MacKey>> find(const std::string& tenant);

  enum class IfPresent { refuse, replace };
  // Makes a key; the one before is gone. Blocks for the disk; may be called on any thread. Fails
  // with invalid_request if there is one and it is to be refused, else with io.
  kernel::Result<MacKey> make(const std::string& tenant, IfPresent if_present) const;

  // Of the operator, whose tenant is "", a name that no tenant can have.
  std::string path_of(const std::string& tenant) const;

 private:
  // Which file it was, so that another one in its place is seen.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;

    bool operator==(const Identity&) const = default;
  };
  struct Known {
    Identity identity;
    MacKey key;
  };
  kernel::Result<Known> read(const std::string& tenant) const;

  std::string directory_;
  std::map<std::string, Known> known_;
};

}  // namespace paddock::supervisor
