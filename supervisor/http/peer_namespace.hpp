#pragma once
// Whether the process at the other end of a Unix socket is one of us or inside a run. A run that is
// confined at all has a user namespace of its own, and no process can leave that. Both sides look:
// an agent with the daemon's uid could connect to its socket, or put up a socket that pretends to
// be it.

#include <sys/types.h>

namespace paddock::supervisor {

// True if `pid` is in this process's user namespace. Whose namespace an ordinary user cannot see,
// another user's, is told by its map of uids. Where /proc hides even that, root's processes are
// taken for what they say, and nobody else's.
bool shares_user_namespace(pid_t pid, uid_t uid);

}  // namespace paddock::supervisor
