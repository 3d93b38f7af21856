#pragma once
// What a process carries across fork and exec besides its memory: signals, standard streams, and
// who may look into it.

namespace paddock::launch {

// Every disposition to default and nothing blocked: what was ignored or blocked in the supervisor
// must not be so in the agent. Async-signal-safe.
void reset_signals();

// What the process does about each signal, to be the same again after reset_signals().
struct SignalActions {
  // The kernel's struct, as reset_signals() writes it.
  struct Action {
    unsigned long words[4];
  };
  Action of[65];  // by signal; 0 is none
};
void note_signal_actions(SignalActions& actions);
void restore_signal_actions(const SignalActions& actions);

// Blocks SIGCHLD (a child changed state) and SIGTERM (the supervisor's order to kill everything).
// Called first in main, so that neither is lost before there is a descriptor to read them from.
void block_signals();
int open_signal_descriptor();  // ends the process if it cannot

// Empties `signals`; true if a SIGTERM was among them.
bool kill_was_ordered(int signals);

// Streams 0 to 2 to /dev/null: they belong to the agent, and holding them would keep its pipes
// open.
void release_standard_streams();

// Not dumpable: no ptrace, no pidfd_getfd, no /proc/PID/{mem,environ,fd} for the agent's user.
void become_unreadable();

// The run dies before its host: a supervisor may be protected from the kernel's OOM killer, and
// what it starts would inherit that.
void become_preferred_oom_victim();

// Leaves the supervisor's session keyring for an empty one: keys are reached through it whatever
// the user id and the namespaces are.
void leave_session_keyring();

// The serial number of this process's session keyring; 0 if there is none or it cannot be told.
int session_keyring();

// False is the kernel's word (ECHILD) that no child is left, living or dead: for a subreaper or the
// init of a PID namespace, that no descendant is.
bool has_children();

// Orphans of the run come to this process, not to the host's init.
void become_subreaper();

}  // namespace paddock::launch
