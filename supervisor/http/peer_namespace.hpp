#pragma once
// Whether the process at the other end of a Unix socket is one of us or inside a run. A run that is
// confined at all has a user namespace of its own, and no process can leave that. Both sides look:
// an agent with the daemon's uid could connect to its socket, or put up a socket that pretends to
// be it.

#include <sys/types.h>

namespace paddock::supervisor {

// True if `pid` is in this process's user namespace. Of root's processes an ordinary user cannot
// see it; they are taken for what they say. Of our own user's, what cannot be seen is not one of
// us.
bool shares_user_namespace(pid_t pid, uid_t uid);

}  // namespace paddock::supervisor
