#pragma once
// Where a test says what shall go wrong in a daemon, while it runs: a small file that both have
// mapped. The daemon is the product's own, linked with in_daemon.cpp, whose functions stand before
// those of the C library.

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace paddock::faults {

constexpr const char* board_variable = "PADDOCK_FAULT_BOARD";  // names the file

// The calls that can fail. `any` counts them all.
enum class Call : std::uint32_t {
  any,
  pipe2,
  socketpair,
  memfd_create,
  clone3,
  pidfd_open,
  execveat,
  open,
  openat,
  openat2,
  opendir,
  mkdir,
  mkdtemp,
  rmdir,
  fcntl,
  lock,    // fcntl(F_SETLK), as SQLite locks
  unlock,  // and gives back
  dup2,
  setsockopt,
  accept4,
  epoll_ctl,
  epoll_create1,
  eventfd,
  socket,
  bind,
  listen,
  chmod,
  lchown,
  flock,
  fork,
  read,
  write,
  recvmsg,
  pwrite,
  fsync,
  ftruncate,
};

constexpr std::array<std::string_view, 36> call_names = {
    "any",        "pipe2",   "socketpair", "memfd_create",  "clone3",  "pidfd_open",
    "execveat",   "open",    "openat",     "openat2",       "opendir", "mkdir",
    "mkdtemp",    "rmdir",   "fcntl",      "lock",          "unlock",  "dup2",
    "setsockopt", "accept4", "epoll_ctl",  "epoll_create1", "eventfd", "socket",
    "bind",       "listen",  "chmod",      "lchown",        "flock",   "fork",
    "read",       "write",   "recvmsg",    "pwrite",        "fsync",   "ftruncate"};

constexpr std::string_view name_of(Call call) {
  return call_names[static_cast<std::size_t>(call)];
}

// Beside the kinds of transitions, where a daemon can be while it writes: in what it does at start
// about the one before it.
constexpr std::string_view at_recovery = "recovery";

enum class Effect : std::uint32_t { none, fail, die_before, die_after };

struct Board {
  std::atomic<Effect> effect{Effect::none};
  std::atomic<Call> call{Call::any};
  std::atomic<std::int32_t> error{0};           // errno, of `fail`
  std::atomic<std::int64_t> skip{0};            // calls that go well before
  std::atomic<std::int64_t> times{1};           // calls that do not, then
  std::atomic<std::int64_t> hits{0};            // how often it has happened
  std::atomic<std::int64_t> clock_offset_s{0};  // of the wall clock
  // Only while a transition of this kind is written, or at_recovery; empty: whatever is. Set
  // without an effect.
  std::array<char, 32> while_writing{};
  // The kinds of what is being written to the ledger, with spaces: what it was when it died.
  std::array<char, 1024> writing{};
};

}  // namespace paddock::faults
