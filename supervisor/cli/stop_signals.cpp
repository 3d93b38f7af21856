#include "supervisor/cli/stop_signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "supervisor/cli/exit_code.hpp"

namespace paddock::supervisor::cli {
namespace {

constexpr int signals_until_exit = 3;

// A handler can reach nothing but globals. The write end stays open until the process ends.
volatile std::sig_atomic_t write_end = -1;
volatile std::sig_atomic_t signals_seen = 0;

void on_signal(int) {
  signals_seen = signals_seen + 1;
  if (signals_seen >= signals_until_exit) ::_exit(exit_run_failed);
  const int saved = errno;
  const char byte = 0;
  [[maybe_unused]] const ssize_t count = ::write(write_end, &byte, 1);
  errno = saved;
}

}  // namespace

kernel::Result<StopSignals> StopSignals::install() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return kernel::fail_errno("pipe2");
  if (write_end >= 0) ::close(write_end);
  write_end = ends[1];
  signals_seen = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0) return kernel::fail_errno("sigaction");
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_signal;
    if (::sigaction(signal, &action, nullptr) != 0) return kernel::fail_errno("sigaction");
  }
  return StopSignals(kernel::Fd(ends[0]));
}

void StopSignals::take() {
  char bytes[16];
  [[maybe_unused]] const ssize_t count = ::read(read_end_.get(), bytes, sizeof bytes);
}

int StopSignals::seen() const {
  return signals_seen;
}

}  // namespace paddock::supervisor::cli
