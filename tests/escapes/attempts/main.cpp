// paddock-attempt NAME [KEY=VALUE ...]: tries one thing and prints one line about it.
// paddock-attempt --list: all names.

#include <cstdio>
#include <cstring>

#include "escapes/attempts/attempt.hpp"

namespace paddock::escapes {
namespace {

Attempts all_attempts() {
  Attempts all;
  for (const auto& part :
       {fs_attempts(), proc_attempts(), net_attempts(), resource_attempts(), life_attempts(),
        privilege_attempts(), syscall_attempts(), env_attempts(), channel_attempts()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace
}  // namespace paddock::escapes

int main(int argc, char** argv) {
  using namespace paddock::escapes;
  const char* name = argc > 1 ? argv[1] : "--list";
  const Arguments arguments(argc > 2 ? argc - 2 : 0, argv + 2);
  for (const Attempt& attempt : all_attempts()) {
    if (std::strcmp(name, "--list") == 0) std::puts(attempt.name);
    if (std::strcmp(name, attempt.name) != 0) continue;
    const Outcome outcome = attempt.function(arguments);
    std::puts(outcome.line.c_str());
    return 0;
  }
  return std::strcmp(name, "--list") == 0 ? 0 : 2;
}
