#pragma once
// Request: what a client asks for. Plain data; nothing here has been checked against a profile.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::kernel {

// Bounds on what a request may carry. Source: execve(2) refuses one string over 128 KiB
// (MAX_ARG_STRLEN) and argv + environment over a quarter of the stack (2 MiB of 8).
constexpr std::size_t argv_entries_max = 8192;
constexpr std::size_t argument_bytes_max = 128 * 1024 - 1;
constexpr std::size_t environment_entries_max = 4096;
constexpr std::size_t argv_and_environment_bytes_max = 1u << 20;
constexpr std::size_t stdin_bytes_max = 16u << 20;
constexpr std::size_t binds_max = 64;
constexpr std::size_t path_bytes_max = 4095;  // PATH_MAX without its NUL

struct Request {
  std::string profile;  // empty: the agent's, or DEFAULT
  std::string agent;    // empty: argv is the command
  std::vector<std::string> argv;
  std::string stdin_bytes;
  std::map<std::string, std::string> environment;  // each name must be on the profile's allow list
  std::string tenant;                              // [A-Za-z0-9_-]{0,64}

  // Tighter limits. A value above the profile's is refused, not clamped.
  std::optional<std::chrono::milliseconds> wall_clock;
  std::optional<std::uint64_t> cpu_seconds;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> fsize_bytes;
  std::optional<std::uint64_t> nproc;
  std::optional<std::uint64_t> nofile;
  std::optional<std::uint64_t> output_bytes;
  std::optional<std::uint64_t> output_stop_bytes;

  // Additions; only what the profile's [requests] grants.
  std::vector<std::string> bind_ro;
  std::vector<std::string> bind_rw;
  bool network = false;

  std::string workdir;          // where the program starts, as it sees it; empty: the profile's
  std::string cwd;              // where a run without bubblewrap starts; empty: a fresh workspace;
                                // without meaning under bubblewrap, which does not show it.
                                // With bubblewrap it is refused: `workdir` is meant
  bool allow_degraded = false;  // run even if a required control is missing, and record which

  bool operator==(const Request&) const = default;
};

// Checks the request by itself: something to run, no NUL anywhere, within the bounds above, names
// well-formed. Fails with invalid_request and names the field ("argv[3] contains a NUL byte").
Result<void> check_request(const Request& request);

}  // namespace paddock::kernel
