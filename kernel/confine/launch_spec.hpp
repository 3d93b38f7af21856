#pragma once
// LaunchSpec: everything that paddock-launch must know about one run, as plain data. The supervisor
// writes it into a sealed memory file; paddock-launch reads it from descriptor `fd_spec`. Both come
// from one build, so the encoding has no versions: it is length-prefixed fields in a fixed order.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::kernel {

// The descriptors of the launch chain. Only 0, 1 and 2 ever reach the agent.
constexpr int fd_control = 3;          // SOCK_SEQPACKET to the supervisor: launch_control.hpp
constexpr int fd_spec = 4;             // this spec, encoded
constexpr int fd_bubblewrap_args = 5;  // bwrap --args
constexpr int fd_launcher = 6;         // paddock-launch itself, for exec inside the sandbox
constexpr int fd_first_file = 7;       // contents for bwrap --file, one descriptor each

struct Rlimit {
  int resource = 0;  // RLIMIT_CPU ...
  std::uint64_t value = 0;

  bool operator==(const Rlimit&) const = default;
};

struct LaunchSpec {
  std::vector<std::string> wrapper;      // bwrap and its arguments; empty: no wrapper
  std::vector<std::string> argv;         // the agent's; argv[0] is looked up in its own PATH
  std::vector<std::string> environment;  // the agent's, "NAME=value", and nothing else
  std::string workdir;                   // the agent's, as seen from inside
  std::vector<Rlimit> rlimits;           // soft == hard, set in the agent's process
  bool new_session = true;               // setsid; otherwise a process group of its own
  bool own_user_namespace = false;       // for runs without bwrap: NPROC then counts this run alone

  bool operator==(const LaunchSpec&) const = default;
};

std::string encode(const LaunchSpec& spec);

// nullopt if `bytes` is not exactly one encoded spec.
std::optional<LaunchSpec> decode_launch_spec(std::string_view bytes);

}  // namespace paddock::kernel
