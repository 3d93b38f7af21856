#pragma once
// LaunchSpec: everything that paddock-launch must know about one run, as plain data. The supervisor
// writes it into a sealed memory file in the form of launch_wire.hpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "kernel/confine/landlock.hpp"
#include "kernel/confine/launch_wire.hpp"

namespace paddock::kernel {

struct Rlimit {
  int resource = 0;  // RLIMIT_CPU ...
  std::uint64_t value = 0;

  bool operator==(const Rlimit&) const = default;
};

// Of a zygote's fork: mounted by its init over what the zygote has there.
struct FreshMount {
  std::string type;     // of the file system; "cover": /dev/null over a file
  std::string target;   // absolute
  std::string options;  // as mount(2) takes them

  bool operator==(const FreshMount&) const = default;
};

struct LaunchSpec {
  std::vector<std::string> wrapper;      // bwrap and its arguments; empty: no wrapper
  std::vector<std::string> argv;         // the agent's; argv[0] is looked up in its own PATH
  std::vector<std::string> environment;  // the agent's, "NAME=value", and nothing else
  std::string workdir;                   // the agent's, as seen from inside
  std::vector<Rlimit> rlimits;           // soft == hard, set in the agent's process
  LandlockRules landlock;                // set by the agent's process on itself
  std::string filter;                    // loaded last: seccomp_filter()'s bytes, or empty
  bool new_session = true;               // setsid; otherwise a process group of its own
  bool own_user_namespace = false;       // for runs without bwrap: NPROC then counts this run alone
  std::optional<uid_t> host_uid;         // absent: the supervisor's own
  bool channel = false;                  // the program gets fd_channel as channel_fd
  bool user_namespaces_closed = false;   // the agent's process tries whether they are
  std::vector<FreshMount> mounts{};      // of a zygote's fork
  bool watch_sockets = false;            // the init notes whether a process asks for a socket
  // Of a zygote's fork: which of the zygote's prepared programs is the code of its argv, which is
  // empty there then; from 1. 0: none, argv has it.
  std::uint32_t prepared_program = 0;

  bool operator==(const LaunchSpec&) const = default;
};

// No string may hold a NUL: check_request has refused those.
std::string encode(const LaunchSpec& spec);

// nullopt if `bytes` is not exactly one encoded spec.
std::optional<LaunchSpec> decode_launch_spec(std::string_view bytes);

}  // namespace paddock::kernel
