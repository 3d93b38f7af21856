#pragma once
// The two ways of `paddock run`. Both pass stdin, stdout and stderr through as they come, stop the
// run on Ctrl-C, and return the record of a finished run.

#include "supervisor/cli/embedded.hpp"
#include "supervisor/cli/options.hpp"
#include "supervisor/cli/output_pump.hpp"
#include "supervisor/cli/remote.hpp"
#include "supervisor/cli/stop_signals.hpp"

namespace paddock::supervisor::cli {

// Bytes on their way that are enough; beyond, reading pauses.
constexpr std::size_t pending_bytes_max = 1u << 20;
constexpr std::size_t stdin_read_bytes = 64u << 10;

struct LiveStreams {
  int input = 0;
  OutputPump output{1, 2};
  bool pass_output = true;  // false: --json, where the record carries it
};

// The record carries the output, too.
kernel::Result<RunRecord> run_embedded(EmbeddedBackend& backend, const kernel::Request& request,
                                       LiveStreams& streams, StopSignals& signals);

// The record is without output.
kernel::Result<RunRecord> run_remote(RemoteBackend& backend, const kernel::Request& request,
                                     bool warm, LiveStreams& streams, StopSignals& signals);

// Up to `stdin_read_bytes`, or what there is. Empty: the end, or nothing that can be read.
struct InputPiece {
  std::string bytes;
  bool ended = false;
};
InputPiece read_input(int fd);

}  // namespace paddock::supervisor::cli
