#pragma once

#include "kernel/policy/agent_template.hpp"
#include "kernel/policy/toml_reader.hpp"

namespace paddock::kernel {

// The keys of a template that are about its long-running run.
void read_agent_life(TomlReader& reader, AgentTemplate& agent);

}  // namespace paddock::kernel
