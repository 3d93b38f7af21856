#include "supervisor/runs/host_fault.hpp"

namespace paddock::supervisor {

using kernel::Cause;

bool is_host_fault(Cause cause) {
  switch (cause) {
    case Cause::cannot_isolate:
    case Cause::cannot_execute:
    case Cause::host_overloaded:
    case Cause::killed_by_request:
    case Cause::shutdown:
    case Cause::daemon_restart:
    case Cause::internal:
      return true;
    case Cause::exited:
    case Cause::signaled:
    case Cause::wall_clock:
    case Cause::cpu_limit:
    case Cause::memory_limit:
    case Cause::pids_limit:
    case Cause::file_size_limit:
    case Cause::output_limit:
    case Cause::syscall_denied:
    case Cause::tampered:
      return false;
  }
  return true;
}

}  // namespace paddock::supervisor
