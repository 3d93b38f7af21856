// `paddock events`: the ledger's events as they come.

#include <poll.h>

#include <cerrno>

#include <fmt/format.h>

#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

// The daemon sends an empty line each 15 s.
constexpr int silence_ms_max = 60'000;

Result<std::string> target_of(const Options& options) {
  if (options.kind.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos)
    return fail(ErrorCode::invalid_request,
                "--kind is the beginning of an event's kind, such as run. or run.finished");
  std::string target = fmt::format("/v1/events?follow={}", options.follow);
  if (options.after) target += fmt::format("&after={}", *options.after);
  if (options.limit) target += fmt::format("&limit={}", *options.limit);
  if (!options.kind.empty()) target += "&kind=" + options.kind;
  return target;
}

// The whole lines of `received`, without the empty ones, which only say that the daemon is there.
std::string take_lines(std::string& received) {
  std::string lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = received.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    if (end > begin) lines += received.substr(begin, end + 1 - begin);
  received.erase(0, begin);
  return lines;
}

Result<int> events(const Options& options) {
  Client client = TRY(require_daemon(options.global, "events"));
  const std::string target = TRY(target_of(options));
  TRY_VOID(client.send("GET", target, {}));
  std::string received;
  for (;;) {
    pollfd polled{client.fd(), POLLIN, 0};
    const int ready = ::poll(&polled, 1, silence_ms_max);
    if (ready < 0 && errno != EINTR) return kernel::fail_errno("poll");
    if (ready == 0) return fail(ErrorCode::io, "the daemon does not answer");
    if (ready < 0) continue;
    const Client::Progress progress = TRY(client.read_some(received));
    const bool refused = progress.status != 0 && progress.status / 100 != 2;
    if (refused && progress.complete)
      return tl::unexpected<kernel::Error>(error_of({progress.status, received}));
    if (refused) continue;
    const std::string lines = take_lines(received);
    if (!lines.empty() && !print(lines)) return exit_error;
    if (progress.complete) return exit_success;
  }
}

}  // namespace

int events_command(const Options& options) {
  return end_with(events(options));
}

}  // namespace paddock::supervisor::cli
