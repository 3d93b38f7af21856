#include "kernel/policy/cgroup_use.hpp"

namespace paddock::kernel {

std::string_view name_of(CgroupUse use) {
  switch (use) {
    case CgroupUse::never:
      return "never";
    case CgroupUse::if_delegated:
      return "if_delegated";
    case CgroupUse::required:
      return "required";
  }
  return "required";
}

}  // namespace paddock::kernel
