#pragma once
// The agent's process between fork and execve: it confines itself, announces itself, waits at the
// gate, and becomes the program.

#include "kernel/confine/launch_wire.hpp"

namespace paddock::launch {

// `gate`: a byte arrives when the supervisor has seen the confinement; end of file means "give up".
// `exec_error`: close-on-exec; gets errno if execve fails, so "not found" is not "exit 1".
[[noreturn]] void become_agent(const kernel::SpecView& spec, int gate, int exec_error);

}  // namespace paddock::launch
