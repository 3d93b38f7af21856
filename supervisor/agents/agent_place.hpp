#pragma once
// AgentPlace: what of an agent is on the disk - STATE_DIR/agents/NAME with its workspace and its
// log - and whose it is.

#include <optional>
#include <string>

#include "kernel/confine/host_uid.hpp"
#include "kernel/policy/agent_template.hpp"

namespace paddock::supervisor {

struct AgentPlace {
  std::string log;                                 // the path of the current file
  std::string workspace;                           // empty: a private one for each run
  std::optional<kernel::HostUidLease> host_uid{};  // as root: who owns the workspace, kept for it
};

std::string agents_directory(const std::string& state_directory);

// Makes what is missing. A workspace that is there keeps its owner, and what is in it. Fails with
// sandbox_policy_error if it is not what it was made as, with too_busy if a run of somebody else
// has its uid at the moment, and with io. `host_uids` is used by root only.
kernel::Result<AgentPlace> make_agent_place(const std::string& state_directory,
                                            const kernel::AgentTemplate& agent,
                                            const kernel::HostUidRange& host_uids);

// The lease of a workspace that is there already; nothing if there is none. For root, at the start
// of the daemon: no run may get its uid meanwhile.
kernel::Result<std::optional<kernel::HostUidLease>> keep_uid_of(
    const std::string& state_directory, const std::string& name,
    const kernel::HostUidRange& host_uids);

}  // namespace paddock::supervisor
