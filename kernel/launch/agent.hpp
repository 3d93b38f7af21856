#pragma once
// The agent's process between fork and its program: it confines itself, announces itself, and waits
// at the gate.

#include "kernel/confine/launch_wire.hpp"

namespace paddock::launch {

// Returns when the gate is open. `gate`: a byte arrives when the supervisor has seen the
// confinement; end of file means "give up".
void confine_agent(const kernel::SpecView& spec, int gate);

// `exec_error`: close-on-exec; gets errno if execve fails, so "not found" is not "exit 1".
[[noreturn]] void execute_program(const kernel::SpecView& spec, int exec_error);

// Gives fd_channel the number that the program knows. False: errno says why.
bool take_channel();

}  // namespace paddock::launch
