#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

// Makes `path`, and its parents, with mode 0700. If it exists it must be a directory of ours that
// nobody else can enter; a looser one is refused, not mended: somebody may have been in it already.
// Fails with io.
kernel::Result<void> ensure_private_directory(const std::string& path);

// The same for what `group` may enter, and change nothing in. An earlier daemon may have opened it
// to this group or another (0750): it is of this one afterwards, or of none (0700).
kernel::Result<void> ensure_runtime_directory(const std::string& path, std::optional<gid_t> group);

// The same, but as root with mode 0711: runs with host uids of their own pass through it to what
// belongs to them, and can neither list nor change it. One that was private is opened that far.
kernel::Result<void> ensure_state_directory(const std::string& path);

// Opens a directory of ours to `group` (0750), or closes it to everybody else (0700).
kernel::Result<void> open_directory_to(const std::string& path, std::optional<gid_t> group);

}  // namespace paddock::supervisor
