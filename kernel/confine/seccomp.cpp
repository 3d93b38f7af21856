#include "kernel/confine/seccomp.hpp"

#include "kernel/confine/seccomp_compile.hpp"

namespace paddock::kernel {

Result<std::string> seccomp_filter(SeccompUse use) {
  switch (use) {
    case SeccompUse::off:
      return std::string();
    case SeccompUse::default_list: {
      static const Result<std::string> filter = compile_seccomp(rules_of(use)).map(as_bytes);
      return filter;
    }
    case SeccompUse::strict: {
      static const Result<std::string> filter = compile_seccomp(rules_of(use)).map(as_bytes);
      return filter;
    }
  }
  return fail(ErrorCode::internal, "unknown seccomp list");
}

}  // namespace paddock::kernel
