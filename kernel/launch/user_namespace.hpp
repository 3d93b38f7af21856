#pragma once
// The user namespace of a run.

#include <sys/types.h>

namespace paddock::launch {

// A user namespace and nothing else: ids stay what they were, and RLIMIT_NPROC, set inside it,
// counts the processes of this run instead of all that the user has.
void enter_own_user_namespace();

// In a user namespace that is new: `uid` and `gid` stay what they were, and nobody else is there.
void map_ids_to_themselves(uid_t uid, gid_t gid);

// No process in this user namespace can make another one below it. Takes a /proc of its own.
void close_user_namespaces();

}  // namespace paddock::launch
