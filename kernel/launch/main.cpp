// paddock-launch: the trusted program at the start of every run. It is linked statically, needs no
// privilege, and has two roles:
//
//   paddock-launch init    the run's init: confines, starts, reports and buries the agent
//   paddock-launch guard   bwrap's parent, for runs that use it: bwrap then starts the init inside
//
// It is started by the supervisor with the descriptors of launch_spec.hpp, never by hand.

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "kernel/confine/launch_spec.hpp"
#include "kernel/launch/control.hpp"
#include "kernel/launch/guard.hpp"
#include "kernel/launch/init.hpp"
#include "kernel/launch/process_state.hpp"

using namespace paddock;

namespace {

// Read with an offset: the guard and the init inside share one file position.
std::string read_spec_bytes() {
  std::string bytes;
  char buffer[16384];
  for (;;) {
    const ssize_t count =
        ::pread(kernel::fd_spec, buffer, sizeof buffer, static_cast<off_t>(bytes.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) launch::die("read the launch spec", errno);
    if (count == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
}

int refuse_use_by_hand() {
  std::fputs("paddock-launch is started by paddock, not by hand: see paddock run --help\n", stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = argc == 2 ? argv[1] : "";
  if (role != "init" && role != "guard") return refuse_use_by_hand();
  ::prctl(PR_SET_NAME, "paddock-launch", 0, 0, 0);

  launch::block_signals();
  if (::getpid() != 1) {  // PID 1 inside a sandbox has both from its guard, or needs neither
    launch::become_subreaper();
    launch::become_preferred_oom_victim();
  }
  const auto spec = kernel::decode_launch_spec(read_spec_bytes());
  if (!spec) launch::die("decode the launch spec", EINVAL);

  if (role == "guard") launch::run_guard(*spec);
  if (role == "init") launch::run_init(*spec);
  return 0;  // no descendant is left: that is what 0 means to the supervisor
}
