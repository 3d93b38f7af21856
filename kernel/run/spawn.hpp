#pragma once
// Starts the launch chain of one run: its descriptors, and one child that executes paddock-launch.

#include <sys/types.h>

#include "kernel/base/fd.hpp"
#include "kernel/run/plan.hpp"

namespace paddock::kernel {

// The supervisor's ends of one run. All are close-on-exec and non-blocking.
struct SpawnedRun {
  pid_t launcher = -1;  // paddock-launch; it leads a session of its own
  Fd launcher_pidfd;
  Fd control;  // packets of launch_wire.hpp
  Fd stdin_write;
  Fd stdout_read;
  Fd stderr_read;
};

// What a run talks through, before it has a process. The other ends go to that.
struct RunStreams {
  Pipe input;
  Pipe output;
  Pipe errors;
  Fd control;         // ours
  Fd control_theirs;  // both are SOCK_SEQPACKET

  static Result<RunStreams> make();
  // Our ends of it, non-blocking.
  Result<SpawnedRun> ours();
};

// `cgroup_directory` is -1 or an open leaf into which the process is born. `launcher_executable` is
// open_launcher()'s. `program` is -1 or an executable memory file, which the plan's argv names as
// program_path; `channel` is what the program of a plan with launch.channel gets. Call it on the
// thread that lives as long as the runs do: the kernel ties a parent-death signal to the thread,
// not to the process. Fails with io.
Result<SpawnedRun> spawn(const Plan& plan, int launcher_executable, int cgroup_directory,
                         int program, int channel);

}  // namespace paddock::kernel
