#include "escapes/runner/rows.hpp"

namespace paddock::escapes {

std::vector<Group> all_groups() {
  return {file_rows(),      process_rows(), network_rows(),     resource_rows(), lifetime_rows(),
          privilege_rows(), syscall_rows(), environment_rows(), channel_rows()};
}

}  // namespace paddock::escapes
