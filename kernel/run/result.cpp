#include "kernel/run/result.hpp"

namespace paddock::kernel {
namespace {

int exit_code_of(const Ending& ending) {
  if (ending.cause == Cause::tampered) return -9;
  if (!ending.exit) return ending.cause == Cause::cannot_execute ? 127 : -9;
  return ending.exit->signal != 0 ? -ending.exit->signal : ending.exit->code;
}

std::optional<std::string> rlimit_hit_by(Cause cause) {
  if (cause == Cause::cpu_limit) return "cpu";
  if (cause == Cause::memory_limit) return "memory";
  if (cause == Cause::file_size_limit) return "fsize";
  return std::nullopt;
}

bool was_killed(Cause cause) {
  return cause != Cause::exited && cause != Cause::signaled && cause != Cause::pids_limit &&
         cause != Cause::cannot_execute && cause != Cause::cannot_isolate;
}

}  // namespace

void apply_ending(const Ending& ending, SandboxResult& result) {
  result.exit_code = ending.cause == Cause::cannot_isolate ? -1 : exit_code_of(ending);
  result.timed_out = ending.cause == Cause::wall_clock || ending.cause == Cause::host_overloaded;
  result.rlimit_hit = rlimit_hit_by(ending.cause);
  result.killed = was_killed(ending.cause);
  result.cause = ending.cause;
  result.detail = ending.detail;
  result.exec_error = ending.exec_error;
  result.output_held_open = ending.output_held_open;
  result.survivors_unproved = ending.survivors_unproved;
  if (!ending.exit) return;
  result.signal = ending.exit->signal;
  result.cpu_user_us = ending.exit->cpu_user_us;
  result.cpu_system_us = ending.exit->cpu_system_us;
  result.max_rss_bytes = ending.exit->max_rss_kib * 1024;
  result.written_bytes = ending.exit->written_bytes;
}

}  // namespace paddock::kernel
