// `paddock agent logs`: the lines of a log, and with -f each that comes.

#include <poll.h>

#include <cerrno>

#include <fmt/format.h>

#include "kernel/policy/names.hpp"
#include "supervisor/cli/agent_text.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

// Takes the whole lines off the front of `received` and prints them. False if nobody reads them.
Result<bool> print_lines(std::string& received, bool as_json) {
  std::string text;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = received.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string_view line = std::string_view(received).substr(begin, end - begin);
    text += as_json ? std::string(line) + "\n" : TRY(log_line_text(line));
  }
  received.erase(0, begin);
  return text.empty() || print(text);
}

Result<bool> print_log(const Options& options) {
  if (!kernel::is_name(options.agent))
    return fail(ErrorCode::invalid_request,
                "'" + options.agent + "' is not an agent's name ([A-Za-z0-9_-]{1,64})");
  Client client = TRY(require_daemon(options.global, "agent"));
  TRY_VOID(client.send("GET",
                       fmt::format("/v1/agents/{}/logs?lines={}&follow={}", options.agent,
                                   options.lines, options.follow),
                       ""));
  std::string received;
  for (;;) {
    pollfd polled{client.fd(), POLLIN, 0};
    const int timeout = options.follow ? -1 : static_cast<int>(answer_time_max.count());
    const int ready = ::poll(&polled, 1, timeout);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return kernel::fail_errno("poll");
    if (ready == 0) return fail(ErrorCode::io, "the daemon does not answer");
    const Client::Progress progress = TRY(client.read_some(received));
    const bool refused = progress.status != 0 && progress.status / 100 != 2;
    if (refused && progress.complete)
      return tl::unexpected<kernel::Error>(error_of({progress.status, received}));
    if (refused) continue;
    if (!TRY(print_lines(received, options.json))) return false;
    if (progress.complete) return true;
  }
}

}  // namespace

int agent_logs_command(const Options& options) {
  const auto printed = print_log(options);
  if (!printed) return complain_and_exit_code(printed.error());
  return *printed ? exit_success : exit_error;
}

}  // namespace paddock::supervisor::cli
