#include "escapes/runner/rows.hpp"

namespace paddock::escapes {
namespace {

// A deadline soon enough for a test.
void shorten_wall_clock(kernel::SandboxPolicy& policy) {
  policy.wall_clock = std::chrono::milliseconds(250);
  policy.grace = std::chrono::milliseconds(50);
}

Row stays(std::string_view name, Scenario scenario) {
  const auto ended = stopped({"wall_clock", "host_overloaded"});  // at its deadline, both
  return {name, ended, ended, scenario, {}, shorten_wall_clock};
}

Row leaves(std::string_view name) {
  const auto gone = stopped({"gone"});
  return {name, gone, gone, Scenario::left_behind};
}

}  // namespace

Group lifetime_rows() {
  constexpr std::string_view only_with_launcher =
      "it only matters when the launcher is killed, and that is noticed";
  const auto no_signal = stopped({"EPERM"}, Need::signal_scope);
  const auto no_effect = stopped({"EPERM", "ignored"});
  const auto no_peer = stopped({"ESRCH", "EPERM"});
  const ByUser not_yours{stopped({"EPERM"}), no_signal};
  return {
      "lifetime",
      {
          leaves("life_setsid_daemon"),
          leaves("life_setpgid"),
          leaves("life_double_fork"),
          leaves("life_daemon_closing_all"),
          leaves("life_orphan_sigstop_self"),
          leaves("life_subreaper"),
          leaves("life_renamed"),
          leaves("life_clone_parent"),
          leaves("life_fork_storm_during_kill"),
          leaves("life_vfork_hang"),
          leaves("life_traced_child"),
          leaves("life_stdout_held_open"),
          stays("life_sleep_for_ever", Scenario::endless),
          stays("life_ignore_sigterm", Scenario::ignores_term),
          stays("life_sigstop_self", Scenario::ignores_term),
          stays("life_block_all_signals", Scenario::ignores_term),
          stays("life_main_thread_exit", Scenario::ignores_term),
          {"life_supervisor_sigkill_no_orphans", stopped({"gone"}), stopped({"gone"}),
           Scenario::supervisor_killed},
          {"life_kill_supervisor_mid_spawn", stopped({"gone"}), stopped({"gone"}),
           Scenario::supervisor_killed_early},
          {"life_kill_init", no_signal, no_effect},
          {"life_stop_init", no_signal, no_effect},
          {"life_segv_init", no_signal, no_effect},
          {"life_kill_supervisor", not_yours, no_peer},
          {"life_stop_supervisor", not_yours, no_peer},
          {"life_kill_by_pidfd", not_yours, no_peer},
          {"life_kill_by_sigqueue", not_yours, no_peer},
          {"life_kill_by_tgkill", not_yours, no_peer},
          {"life_kill_by_sigio",
           {stopped({"EPERM", "ignored"}), stopped({"EPERM", "ignored"}, Need::signal_scope)},
           stopped({"ESRCH", "EPERM", "ignored"})},
          // PID 1 does not mind signals; that it cannot even be asked is Landlock's doing alone.
          {"life_signal_init", no_signal, no_signal},
          {"life_signal_group", not_yours, no_peer},
          {"life_forge_exit", stopped({"EBADF"}), stopped({"EBADF"})},
          {"life_clear_parent_death_signal", open(only_with_launcher), stopped({"EPERM"})},
      },
  };
}

}  // namespace paddock::escapes
