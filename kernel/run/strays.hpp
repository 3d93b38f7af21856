#pragma once
// Strays: children of this process that it did not start. They are what a run left when its
// launcher was killed from inside; a supervisor is their subreaper, so they come to it and not to
// the host's init.

#include <sys/types.h>

#include <cstddef>
#include <functional>

namespace paddock::kernel {

// Makes this process the subreaper of all that it starts. Once, before the first run.
void become_subreaper();

// Kills every child that `is_known` does not know, with all below it, and reaps the dead among
// them. Returns how many it found: call it again until that is 0, since the children of the dead
// come to this process only after a pass.
std::size_t kill_strays(const std::function<bool(pid_t)>& is_known);

}  // namespace paddock::kernel
