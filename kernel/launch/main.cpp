// paddock-launch: the trusted program at the start of every run. It is linked statically, needs no
// privilege, and has two roles:
//
//   paddock-launch init RUN    the run's init: confines, starts, reports and buries the agent
//   paddock-launch guard RUN   bwrap's parent, for runs that use it: bwrap then starts the init
//
// RUN is for whoever looks at a list of processes: paddock itself does after a crash.
// It is started by the supervisor with the descriptors of launch_wire.hpp, never by hand.

#include <sys/prctl.h>
#include <unistd.h>

#include <stdio.h>
#include <string.h>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/launch/agent.hpp"
#include "kernel/launch/guard.hpp"
#include "kernel/launch/host_uid.hpp"
#include "kernel/launch/init.hpp"
#include "kernel/launch/process_state.hpp"
#include "kernel/launch/spec.hpp"

using namespace paddock;

namespace {

int refuse_use_by_hand() {
  ::fputs("paddock-launch is started by paddock, not by hand: see paddock run --help\n", stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const role = argc == 3 && kernel::is_run_name(argv[2]) ? argv[1] : "";
  const bool is_guard = ::strcmp(role, "guard") == 0;
  if (!is_guard && ::strcmp(role, "init") != 0) return refuse_use_by_hand();
  ::prctl(PR_SET_NAME, "paddock-launch", 0, 0, 0);

  launch::block_signals();
  kernel::SpecView spec;
  launch::read_spec(spec);
  if (::getpid() != 1) {  // PID 1 inside a sandbox has all of it from its guard, or needs none
    if (spec.host_uid != 0) launch::become_host_uid(spec.host_uid);
    launch::become_subreaper();
    launch::become_preferred_oom_victim();
    launch::leave_session_keyring();
  }

  if (is_guard) {
    launch::run_guard(spec);
  } else if (const int exec_error = launch::run_init(spec); exec_error >= 0) {
    launch::execute_program(spec, exec_error);
  }
  return 0;  // no descendant is left: that is what 0 means to the supervisor
}
