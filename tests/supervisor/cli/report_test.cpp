// What people read after a run.

#include "supervisor/cli/report.hpp"

#include <csignal>

#include "sample_run.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace paddock::supervisor::cli;
using paddock::kernel::Cause;

namespace {

RunRecord ended(Cause cause, const std::string& detail = "") {
  RunRecord run = sample_run();
  run.result->cause = cause;
  run.result->detail = detail;
  run.result->duration_s = 1.004;
  return run;
}

}  // namespace

TEST_CASE("one line says why a run did not succeed") {
  RunRecord exited = ended(Cause::exited);
  exited.result->exit_code = 3;
  CHECK(ending_line(exited) == "exited with 3");
  RunRecord signaled = ended(Cause::signaled, "SIGSEGV");
  signaled.result->signal = SIGSEGV;
  CHECK(ending_line(signaled) == "ended by SIGSEGV after 1.0 s");
  CHECK(ending_line(ended(Cause::wall_clock, "wall_seconds passed")) ==
        "killed after 1.0 s: wall_seconds passed (profile STRICT)");
  CHECK(ending_line(ended(Cause::host_overloaded)) ==
        "killed after 1.0 s: wall_seconds passed, but the host was too busy: not the run's fault "
        "(profile STRICT)");
  CHECK(ending_line(ended(Cause::cpu_limit, "cpu_seconds passed")) ==
        "killed after 1.0 s: cpu_seconds passed (profile STRICT)");
  CHECK(ending_line(ended(Cause::syscall_denied, "a system call that the filter does not allow")) ==
        "killed after 1.0 s: a system call that the filter does not allow (profile STRICT)");
  CHECK(ending_line(ended(Cause::output_limit, "more output than output_stop_bytes")) ==
        "killed after 1.0 s: more output than output_stop_bytes (profile STRICT)");
  CHECK(ending_line(ended(Cause::pids_limit, "the run was refused processes")) ==
        "failed after 1.0 s: the run was refused processes (profile STRICT)");
  CHECK(ending_line(ended(Cause::killed_by_request)) == "killed after 1.0 s: it was asked for");
  CHECK(ending_line(ended(Cause::shutdown)) == "killed after 1.0 s: the daemon shut down");
  CHECK(ending_line(ended(Cause::cannot_execute, "execute the program: No such file")) ==
        "cannot execute the program: No such file");
  CHECK(ending_line(ended(Cause::cannot_isolate, "no user namespace")) ==
        "cannot isolate: no user namespace; the program did not run (profile STRICT)");
}

TEST_CASE("a report is aligned and says what confined the run") {
  CHECK(report(sample_run()) == R"(
paddock report
  run           r-0123456789abcdef
  command       python3 -c 'print(1)'
  cause         exited
                exited with 0
  time          0.021 s, and 0.007 s to set it up
  cpu           0.015 s user, 0.004 s system
  memory        11 MiB, the largest process
  written       16 KiB to files on disks
  output        2 B on stdout, 0 B on stderr

confined by
  profile       STRICT
  policy        26ffd73dce70
  host uid      60578
  namespaces    cgroup ipc mnt net pid user uts
  privileges    no_new_privs, capabilities none
  system calls  filtered
  Landlock      ABI 7, refused a file outside its rules, refused a signal to the outside
  cpu_seconds   120 s for each process
  memory_bytes  512 MiB of virtual memory for each process
  fsize_bytes   64 MiB for each file
  nproc         16 processes and threads
  nofile        256 descriptors for each process
  core_size     no core dumps
  cgroup        none of its own: no cgroup v2 is delegated
  missing       NO-MEMORY-CEILING(cgroup)
)");
}

TEST_CASE("a report shows the cgroup of the run, not the supervisor's") {
  RunRecord run = sample_run();
  run.receipt->cgroup = "/user.slice/session";
  CHECK(report(run).find("/user.slice/session") == std::string::npos);
  run.receipt->cgroup = "/paddock/r-0123456789abcdef";
  CHECK(report(run).find("cgroup        /paddock/r-0123456789abcdef\n") != std::string::npos);
}

TEST_CASE("a report of a run that never ran claims no confinement") {
  RunRecord run = ended(Cause::cannot_isolate, "bubblewrap exited with 1");
  run.receipt.reset();
  run.result->receipt.reset();
  const std::string text = report(run);
  CHECK(text.find("nothing was observed") != std::string::npos);
  CHECK(text.find("namespaces") == std::string::npos);
}

TEST_CASE("a report lets no control byte through") {
  RunRecord run = sample_run();
  run.argv = {"sh", "-c", "\x1b[2J\n"};
  CHECK(report(run).find('\x1b') == std::string::npos);
}

TEST_CASE("a report says of a run that asked for it whether it was warm") {
  RunRecord run = sample_run();
  CHECK(report(run).find("warm") == std::string::npos);
  run.warm = true;
  CHECK(report(run).find("warm          a fork of an interpreter") != std::string::npos);
  run.warm = false;
  run.cold_because = "no zygote is ready";
  CHECK(report(run).find("warm          no: no zygote is ready") != std::string::npos);
}
