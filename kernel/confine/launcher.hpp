#pragma once
// Where paddock-launch comes from. It is copied once into a sealed memory file and executed from
// there: no run can overwrite it on disk (CVE-2019-5736), an upgrade on disk cannot mix two builds,
// and the path to it need not be readable for a run's host uid.

#include "kernel/base/fd.hpp"

namespace paddock::kernel {

// What /proc/PID/exe shows of a process that executes it from there.
constexpr const char* launcher_in_memory = "/memfd:paddock-launch (deleted)";

// Looks for paddock-launch beside the running executable, then in ../libexec/paddock beside its
// directory. Fails with internal if neither is there.
Result<Fd> open_launcher();

// The bytes of paddock-warm.so, which zygotes load.
Result<std::string> read_warm_library();

// The same for paddock-probe, which kernel/probe runs.
Result<Fd> open_prober();

// The same for paddock-step, which lays out the files of a run that has some.
Result<Fd> open_step_program();

}  // namespace paddock::kernel
