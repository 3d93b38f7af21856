#pragma once

#include <utility>

#include "cli_process.hpp"
#include "fake_daemon.hpp"

// `paddock --socket ... words`, until it ends.
inline CliEnded with_daemon(const FakeDaemon& daemon, Words words) {
  words.insert(words.begin(), {"--socket", daemon.socket()});
  return CliProcess(words).wait();
}
