#pragma once
// The messages between the supervisor and paddock-launch. One struct is one packet on a
// SOCK_SEQPACKET pair; the supervisor's end going away means "kill everything and exit".

#include <cstdint>

namespace paddock::kernel {

enum class ControlKind : std::uint32_t {
  // From paddock-launch.
  agent_ready = 1,    // sent by the agent's process itself, fully confined and waiting at the gate;
                      // the kernel adds its pid (SCM_CREDENTIALS), translated for the supervisor
  agent_started = 2,  // execve succeeded
  exec_failed = 3,    // error = errno of execve; the program never ran
  setup_failed = 4,   // error = errno, text = the step; the program never ran
  agent_exited = 5,   // exited / signal and the usage below; sent before survivors are killed
  wrapper_exited = 6,  // exited / signal: bwrap is gone, whether or not the agent ever started
  all_gone = 7,        // no descendant is left; usage of the whole run
  // To paddock-launch.
  open_gate = 16,
  terminate = 17,  // SIGTERM to the agent's process group
};

struct ControlMessage {
  ControlKind kind{};
  std::int32_t error = 0;
  std::int32_t exited = -1;       // exit status 0..255, or -1
  std::int32_t signal = 0;        // signal number, or 0
  std::uint64_t cpu_user_us = 0;  // of the agent and every descendant that was reaped
  std::uint64_t cpu_system_us = 0;
  std::uint64_t max_rss_kib = 0;  // of the largest single process
  std::uint64_t own_cpu_us = 0;   // agent_exited: of the agent's process alone, as RLIMIT_CPU counts
  char text[96] = {};
};
static_assert(sizeof(ControlMessage) <= 160);

}  // namespace paddock::kernel
