#pragma once
// A finished run, for tests that only look at one.

#include "supervisor/runs/run_record.hpp"

inline paddock::supervisor::RunRecord sample_run() {
  namespace kernel = paddock::kernel;
  kernel::Receipt receipt;
  receipt.pid = 4711;
  receipt.host_uid = 60578;
  receipt.rlimits = {{"cpu_seconds", "120"},      {"memory_bytes", "536870912"},
                     {"fsize_bytes", "67108864"}, {"nproc", "16"},
                     {"nofile", "256"},           {"core_size", "0"}};
  receipt.new_namespaces = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};
  receipt.no_new_privs = true;
  receipt.capabilities = "0000000000000000";
  receipt.filters = 1;
  receipt.landlock_abi = 7;
  receipt.landlock_seen = kernel::landlock_seen_file | kernel::landlock_seen_signal;
  receipt.descriptors = {0, 1, 2};
  receipt.cgroup = "/";

  kernel::SandboxResult result;
  result.cause = kernel::Cause::exited;
  result.duration_s = 0.0213;
  result.setup_s = 0.007;
  result.cpu_user_us = 15'000;
  result.cpu_system_us = 4'000;
  result.max_rss_bytes = 11'534'336;
  result.written_bytes = 16'384;
  result.stdout_bytes = 2;
  result.profile = "STRICT";
  result.policy_hash = "26ffd73dce70444bd9581fa98ae7ca4c8451a143fff72b491e53fa320e8d47e8";
  result.receipt = receipt;
  result.degraded = {"NO-MEMORY-CEILING(cgroup)"};

  paddock::supervisor::RunRecord run;
  run.id = "r-0123456789abcdef";
  run.phase = paddock::supervisor::RunPhase::finished;
  run.profile = "STRICT";
  run.argv = {"python3", "-c", "print(1)"};
  run.policy_hash = result.policy_hash;
  run.degraded = result.degraded;
  run.receipt = receipt;
  run.result = result;
  return run;
}
