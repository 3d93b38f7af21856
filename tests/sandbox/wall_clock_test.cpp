#include <csignal>
#include <thread>
#include <utility>

#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::milliseconds;

namespace {

SandboxPolicy short_policy(const char* profile, milliseconds wall, milliseconds grace) {
  SandboxPolicy policy = policy_of(profile);
  policy.wall_clock = wall;
  policy.grace = grace;
  return policy;
}

// Looks at nothing from the start of its program until long after the deadline, and then at its
// timers first, as an event loop does.
void drive_held_up(Run& live) {
  bool was_held_up = false;
  drive_all({&live}, [&] {
    if (!live.started() || std::exchange(was_held_up, true)) return;
    std::this_thread::sleep_for(milliseconds(1500));
    live.on_time();
  });
  REQUIRE(was_held_up);
}

}  // namespace

TEST_CASE("a run that sleeps is ended at its deadline, as wall_clock") {
  for (const char* profile : profiles) {
    INFO(profile);
    const SandboxResult result =
        run(short_policy(profile, milliseconds(300), milliseconds(1000)), {"sleep", "1000"});
    CHECK(result.cause == Cause::wall_clock);
    CHECK(result.timed_out);
    CHECK(result.killed);
    CHECK_FALSE(result.rlimit_hit);
    CHECK(result.signal == SIGTERM);  // it did what it was asked
    CHECK(result.duration_s >= 0.3);
    CHECK(result.duration_s < 0.6);
  }
}

TEST_CASE("a supervisor that is held up takes no end before the deadline for one at it") {
  for (const char* profile : profiles) {
    INFO(profile);
    const Sandbox sandbox = Sandbox::open({}).value();
    const auto live = sandbox
                          .start(short_policy(profile, milliseconds(500), milliseconds(0)),
                                 {"sh", "-c", "echo done"}, "", "held-up", RunOptions{})
                          .value();
    drive_held_up(*live);
    const SandboxResult result = live->take_result();
    CHECK(result.cause == Cause::exited);
    CHECK(result.exit_code == 0);
    CHECK(result.stdout == "done\n");
    CHECK_FALSE(result.output_held_open);
  }
}

TEST_CASE(
    "what a supervisor that is held up may have kept waiting is not at fault at its deadline") {
  for (const char* profile : profiles) {
    INFO(profile);
    const Sandbox sandbox = Sandbox::open({}).value();
    const auto live = sandbox
                          .start(short_policy(profile, milliseconds(300), milliseconds(0)), {"cat"},
                                 "", "kept-waiting", RunOptions{.stdin_stays_open = true})
                          .value();
    drive_held_up(*live);
    CHECK(live->take_result().cause == Cause::host_overloaded);
  }
}

TEST_CASE("a program that ignores SIGTERM is killed after its grace") {
  for (const char* profile : profiles) {
    INFO(profile);
    const SandboxResult result = run(short_policy(profile, milliseconds(300), milliseconds(300)),
                                     {program("ignore_term"), make_marker()});
    CHECK(result.stdout == "ready\n");
    CHECK(result.cause == Cause::wall_clock);
    CHECK(result.duration_s >= 0.6);
    CHECK(result.duration_s < 1.0);
    CHECK(result.exit_code == -SIGKILL);
  }
}

TEST_CASE("a run that had to be killed still says what it used") {
  // Goal: its CPU time is not lost with its PID namespace. Method: it spins for half a second.
  for (const char* profile : profiles) {
    INFO(profile);
    const SandboxResult result = run(short_policy(profile, milliseconds(400), milliseconds(100)),
                                     {"sh", "-c", "trap '' TERM; while :; do :; done"});
    CHECK(result.signal == SIGKILL);
    CHECK(result.cpu_user_us + result.cpu_system_us > 100'000);
    CHECK(result.max_rss_bytes > 0);
  }
}

TEST_CASE("SIGTERM reaches the program, which has its grace to clean up") {
  // Goal: the program itself gets the signal. Through bubblewrap alone it never does: bubblewrap
  // dies of it and takes the program along.
  for (const char* profile : profiles) {
    INFO(profile);
    const SandboxResult result =
        run(short_policy(profile, milliseconds(300), milliseconds(2000)), {program("catch_term")});
    CHECK(result.stdout == "ready\ncleaned up\n");
    CHECK(result.exit_code == 7);
    CHECK(result.cause == Cause::wall_clock);
    CHECK(result.timed_out);
  }
}

TEST_CASE("SIGTERM reaches the whole process group of the program") {
  for (const char* profile : profiles) {
    INFO(profile);
    const SandboxResult result =
        run(short_policy(profile, milliseconds(400), milliseconds(2000)),
            {"sh", "-c", "trap '' TERM; " + program("catch_term") + " & wait; exit 0"});
    CHECK(result.stdout == "ready\ncleaned up\n");
    CHECK(result.duration_s < 1.5);
  }
}

TEST_CASE("a stop on request has the same grace and its own cause") {
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : profiles) {
    INFO(profile);
    std::string output;
    RunOptions options;
    options.on_output = [&](Stream, std::string_view bytes) { output += bytes; };
    const auto live =
        sandbox.start(policy_of(profile), {program("catch_term")}, "", "stop", std::move(options))
            .value();
    bool stopped = false;
    drive_all({live.get()}, [&] {
      if (output == "ready\n" && !std::exchange(stopped, true)) live->stop();
    });
    const SandboxResult result = live->take_result();
    CHECK(result.stdout == "ready\ncleaned up\n");
    CHECK(result.exit_code == 7);
    CHECK(result.cause == Cause::killed_by_request);
    CHECK_FALSE(result.timed_out);
  }
}

TEST_CASE("a kill gives no grace, and the result says how the program ended all the same") {
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : profiles) {
    INFO(profile);
    std::string output;
    RunOptions options;
    options.on_output = [&](Stream, std::string_view bytes) { output += bytes; };
    const auto live =
        sandbox.start(policy_of(profile), {program("catch_term")}, "", "kill", std::move(options))
            .value();
    bool killed = false;
    drive_all({live.get()}, [&] {
      if (output == "ready\n" && !std::exchange(killed, true)) live->kill();
    });
    const SandboxResult result = live->take_result();
    CHECK(result.stdout == "ready\n");
    CHECK(result.cause == Cause::killed_by_request);
    CHECK(result.exit_code == -SIGKILL);
    CHECK(result.signal == SIGKILL);  // seen by its parent, not assumed
    CHECK(result.duration_s < 0.5);
    CHECK_FALSE(result.survivors_unproved);
  }
}

TEST_CASE("a stop during set-up ends the run without its program having run") {
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : profiles) {
    INFO(profile);
    const auto live = sandbox
                          .start(policy_of(profile), {"sh", "-c", "echo ran; sleep 1000"}, "",
                                 "stop", RunOptions{})
                          .value();
    live->stop();
    drive_all({live.get()});
    const SandboxResult result = live->take_result();
    CHECK(result.cause == Cause::killed_by_request);
    CHECK(result.stdout.empty());
    CHECK_FALSE(result.survivors_unproved);
  }
}

TEST_CASE("a stopped program is continued by nobody and killed after its grace") {
  const SandboxResult result = run(short_policy("DEFAULT", milliseconds(200), milliseconds(200)),
                                   {"sh", "-c", "kill -STOP $$; echo went on"});
  CHECK(result.cause == Cause::wall_clock);
  CHECK(result.stdout.empty());
  CHECK(result.duration_s < 1.0);
}
