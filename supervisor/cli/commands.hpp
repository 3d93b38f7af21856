#pragma once
// One function per command; each returns the exit code.

#include "supervisor/cli/options.hpp"

namespace paddock::supervisor::cli {

int run_command(const Options& options);
int ps_command(const Options& options);
int kill_command(const Options& options);
int profile_list_command(const Options& options);
int profile_show_command(const Options& options);
int profile_check_command(const Options& options);
int policy_command(const Options& options);
int reload_command(const Options& options);
int doctor_command(const Options& options);
int ledger_verify_command(const Options& options);
int ledger_show_command(const Options& options);
int recover_command(const Options& options);
int agent_list_command(const Options& options);
int agent_status_command(const Options& options);
int agent_start_command(const Options& options);
int agent_stop_command(const Options& options);
int agent_restart_command(const Options& options);
int agent_logs_command(const Options& options);
int budget_show_command(const Options& options);
int budget_grant_command(const Options& options);
int key_new_command(const Options& options);
int key_rotate_command(const Options& options);
int key_show_id_command(const Options& options);
int explain_command(const Options& options);
int drain_command(const Options& options);
int top_command(const Options& options);
int events_command(const Options& options);
int verify_command(const Options& options);

}  // namespace paddock::supervisor::cli
