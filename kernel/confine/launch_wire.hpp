#pragma once
// What the supervisor and paddock-launch must agree on: descriptors, messages, and the form of the
// launch spec. Both come from one build, so nothing here has versions.
//
// paddock-launch uses the C library alone, and so do this header and launch_wire.cpp: linked with
// musl it starts in a quarter of the time (rfcs/0001), and there is little in it to trust.

#include <stddef.h>
#include <stdint.h>

namespace paddock::kernel {

// The descriptors of the launch chain. Only 0, 1 and 2 ever reach the agent, and of a run with a
// channel that one, under the number channel_fd.
constexpr int fd_control = 3;          // SOCK_SEQPACKET to the supervisor: ControlMessage
constexpr int fd_spec = 4;             // the launch spec
constexpr int fd_bubblewrap_args = 5;  // bwrap --args
constexpr int fd_launcher = 6;         // paddock-launch itself, for exec inside the sandbox
constexpr int fd_first_file = 7;       // contents for bwrap --file, one descriptor each
constexpr int fd_channel = 62;  // what the agent's program talks through, if it was given that
constexpr int fd_program = 63;  // the agent's program, if that is no file of the sandbox

// How an argv names fd_program: nothing is bound for it, nothing lies on a disk.
constexpr const char* program_path = "/proc/self/fd/63";

// Where the agent's program finds its channel: in the place of the control socket, which is gone by
// then.
constexpr int channel_fd = 3;

// The longest name of a run. It is in the command line of its launchers, so that a list of
// processes and a supervisor that cleans up after a killed one can tell which run they belong to.
constexpr size_t run_name_max = 64;

// Letters, digits, '_', '-' and, but for the first, '.': one word in every list, and no path.
bool is_run_name(const char* name);

// ---- Messages: one struct is one packet. The supervisor's end going away means "kill everything
// and exit". -------------------------------------------------------------------------------------

enum class ControlKind : uint32_t {
  // From paddock-launch.
  agent_ready = 1,    // sent by the agent's process itself, fully confined and waiting at the gate;
                      // the kernel adds its pid (SCM_CREDENTIALS), translated for the supervisor
  agent_started = 2,  // execve succeeded
  exec_failed = 3,    // error = errno, text = the step; the program never ran
  setup_failed = 4,   // error = errno, text = the step; the program never ran
  agent_exited = 5,   // exited / signal and the usage below; sent before survivors are killed
  wrapper_exited = 6,  // exited / signal: bwrap is gone, whether or not the agent ever started
  all_gone = 7,        // no descendant is left; usage of the whole run
  init_born = 8,       // of a zygote's fork, before anything else: with a pidfd of itself
  // To paddock-launch.
  open_gate = 16,
  terminate = 17,  // SIGTERM to the agent's process group
  kill = 18,       // SIGKILL to the agent; what it leaves is killed after it
};

struct ControlMessage {
  ControlKind kind{};
  int32_t error = 0;
  int32_t exited = -1;       // exit status 0..255, or -1
  int32_t signal = 0;        // signal number, or 0
  uint64_t cpu_user_us = 0;  // of the agent and every descendant that was reaped
  uint64_t cpu_system_us = 0;
  uint64_t max_rss_kib = 0;    // of the largest single process
  uint64_t written_bytes = 0;  // to files on disks, by the same processes as the CPU times
  uint64_t own_cpu_us = 0;     // agent_exited: of the agent's process alone, as RLIMIT_CPU counts
  uint32_t landlock_seen = 0;  // agent_ready: landlock_seen_* bits
  uint32_t self_seen = 0;      // agent_ready: self_seen_* bits
  uint32_t asked_for_socket = 0;  // all_gone: 0 or 1, where that was watched
  int32_t session_keyring = 0;    // agent_ready: its serial number; 0: it cannot be told
  char text[96] = {};
};
static_assert(sizeof(ControlMessage) <= 192);

// What Landlock refused to the agent's process when it tried, after it had set its rules. There is
// no other way to see Landlock: the kernel shows a process's domain to nobody.
constexpr uint32_t landlock_seen_file = 1;    // opening a file that no rule allows
constexpr uint32_t landlock_seen_signal = 2;  // a signal to its own init

// What the agent's process saw of itself that nobody sees from outside.
constexpr uint32_t self_seen_no_user_namespace = 1;    // the kernel refused to make it one
constexpr uint32_t self_seen_parent_death_signal = 2;  // it dies with its init

// A run's, from -1000 to 1000: raising it takes no privilege.
constexpr char oom_score_adj[] = "500";

// LANDLOCK_SCOPE_* of linux/landlock.h (ABI 6).
constexpr uint64_t landlock_scope_abstract_unix = 1;
constexpr uint64_t landlock_scope_signal = 2;

// ---- Zygotes. A zygote has the other end of the supervisor's ZygoteLine as channel_fd. It says
// once that it is ready, then each packet asks for a fork. ---------------------------------------

// What a zygote says of itself: the program that it executes, and its namespaces as /proc/self/ns
// shows them ("pid:[4026531836]"), in the order of namespace_names.
constexpr const char* namespace_names[] = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};
constexpr size_t namespace_count = sizeof namespace_names / sizeof *namespace_names;
// Of its mounts those that a fork has anew and that cannot be told from its own by their kind.
constexpr const char* renewed_mounts[] = {"/proc", "/dev/pts"};
constexpr size_t renewed_mount_count = sizeof renewed_mounts / sizeof *renewed_mounts;
struct ZygoteReady {
  char program[256] = {};
  uint64_t devices[renewed_mount_count] = {};  // st_dev of renewed_mounts
  int32_t session_keyring = 0;                 // its serial number; 0: it cannot be told
  uint64_t mapped_bytes = 0;                   // its address space; 0: it cannot be told
  char namespaces[namespace_count][32] = {};
};

// With it come the fork's descriptors, in this order: stdin, stdout, stderr, control, spec, and
// those of the two that are said to be there.
struct ForkRequest {
  uint32_t new_network = 0;  // 0 or 1: a network namespace of its own
  uint32_t channel = 0;      // 0 or 1: fd_channel
  uint32_t cgroup = 0;       // 0 or 1: the cgroup.procs of its leaf, open for writing
};
constexpr size_t fork_descriptors_max = 7;

// ---- The launch spec: a SpecHeader, its rlimits, the access of each Landlock rule, the system
// call filter, then NUL-terminated strings: the working directory, the paths of the Landlock rules,
// the wrapper's words, the agent's argv, the agent's environment, and three of each mount.
// -------------------------------------

struct WireRlimit {
  uint64_t resource = 0;
  uint64_t value = 0;
};

struct SpecHeader {
  uint32_t rlimit_count = 0;
  uint32_t wrapper_count = 0;
  uint32_t argv_count = 0;
  uint32_t environment_count = 0;
  uint32_t new_session = 0;         // 0 or 1
  uint32_t own_user_namespace = 0;  // 0 or 1
  uint32_t landlock_rule_count = 0;
  uint32_t filter_length = 0;  // instructions: struct sock_filter, 8 bytes each
  uint64_t landlock_handled_file = 0;
  uint64_t landlock_scoped = 0;
  uint64_t host_uid = 0;                // 0: the supervisor's own
  uint32_t channel = 0;                 // 0 or 1: fd_channel is there, for the agent's program
  uint32_t user_namespaces_closed = 0;  // 0 or 1: the agent's process tries whether they are
  uint32_t mount_count = 0;
  uint32_t watch_sockets = 0;     // 0 or 1: the init notes whether a process asks for a socket
  uint32_t prepared_program = 0;  // of a zygote's fork: see LaunchSpec
  uint32_t padding = 0;
};
static_assert(sizeof(SpecHeader) % sizeof(uint64_t) == 0, "what follows it is aligned");
constexpr uint32_t filter_length_max = 4096;    // BPF_MAXINSNS, linux/bpf_common.h
constexpr size_t filter_instruction_bytes = 8;  // struct sock_filter

// Of a zygote's fork: its init mounts it over what the zygote has there.
struct MountView {
  const char* type = nullptr;     // of the file system; "cover": /dev/null over a file
  const char* target = nullptr;   // absolute
  const char* options = nullptr;  // as mount(2) takes them
};

// A spec in place: every pointer points into the bytes that were parsed, or into `pointers`.
struct SpecView {
  const WireRlimit* rlimits = nullptr;
  size_t rlimit_count = 0;
  uint64_t landlock_handled_file = 0;
  uint64_t landlock_scoped = 0;
  const uint64_t* landlock_access = nullptr;  // of each path in landlock_paths
  char** landlock_paths = nullptr;
  size_t landlock_rule_count = 0;
  const char* filter = nullptr;
  size_t filter_length = 0;  // instructions
  char* workdir = nullptr;
  char** wrapper = nullptr;  // each list ends with a null pointer, as execve wants it
  size_t wrapper_count = 0;
  char** argv = nullptr;
  size_t argv_count = 0;
  char** environment = nullptr;
  size_t environment_count = 0;
  bool new_session = false;
  bool own_user_namespace = false;
  uint64_t host_uid = 0;
  bool channel = false;
  bool user_namespaces_closed = false;
  bool watch_sockets = false;
  uint32_t prepared_program = 0;
  size_t mount_count = 0;
  MountView mount(size_t i) const {
    return {mount_words[3 * i], mount_words[3 * i + 1], mount_words[3 * i + 2]};
  }
  char** mount_words = nullptr;

  char** pointers = nullptr;  // owns the lists; freed by the destructor
  SpecView() = default;
  SpecView(const SpecView&) = delete;
  SpecView& operator=(const SpecView&) = delete;
  ~SpecView();
};

// False if `bytes` is not exactly one spec. `bytes` must be aligned for uint64_t and outlive
// `view`.
bool parse_spec(char* bytes, size_t size, SpecView& view);

}  // namespace paddock::kernel
