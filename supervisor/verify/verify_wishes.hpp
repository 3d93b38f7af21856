#pragma once
// What the runs of items are forks of. A candidate's zygote is never a judge's: their programs
// differ.

#include <map>
#include <memory>
#include <string>

#include "supervisor/runtimes/runtime.hpp"

namespace paddock::supervisor {

// Each null: those runs do not ask for it.
struct VerifyWishes {
  std::shared_ptr<const WarmWish> candidate{};
  std::shared_ptr<const WarmWish> judge{};
  std::shared_ptr<const WarmWish> in_process{};
  // Of programs of stdio tests, by the name of their runtime. One that cannot be a fork says why.
  std::map<std::string, std::shared_ptr<const WarmWish>> stdio{};
};

// All but those of stdio: of the runtime `python`, if that has a [warm].
VerifyWishes verify_wishes(const Runtimes& runtimes);

}  // namespace paddock::supervisor
