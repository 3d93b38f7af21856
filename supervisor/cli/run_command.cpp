#include "supervisor/cli/run_command.hpp"

#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "supervisor/api/json.hpp"
#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/json_text.hpp"
#include "supervisor/cli/report.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;

bool succeeded(const kernel::SandboxResult& result) {
  return result.cause == kernel::Cause::exited && result.exit_code == 0;
}

void complain_about_lost_output(const RunRecord& run, const OutputPump& output) {
  const auto complain_about = [&](kernel::Stream stream, std::string_view name,
                                  std::uint64_t bytes) {
    const std::uint64_t written = output.written_bytes(stream);
    if (written < bytes)
      complain(fmt::format("{} is not complete: {} of {} bytes", name, written, bytes));
  };
  const kernel::SandboxResult& result = *run.result;
  complain_about(kernel::Stream::stdout_stream, "stdout", result.stdout_bytes);
  complain_about(kernel::Stream::stderr_stream, "stderr", result.stderr_bytes);
}

// What a person at the terminal wants to know, besides the output that has passed already.
void tell_ending(const Options& options, const RunRecord& run, const OutputPump& output) {
  const int error = output.stdout_error();
  if (error != 0) {
    complain(fmt::format("{}; the run was stopped",
                         error == EPIPE ? "nobody reads stdout any more"
                                        : "write to stdout: " + kernel::errno_text(error)));
  } else {
    complain_about_lost_output(run, output);
  }
  const bool told = error != 0 && run.result->cause == kernel::Cause::killed_by_request;
  // The report says it, too.
  if (!options.report && !told && !succeeded(*run.result)) complain(ending_line(run));
}

// The daemon keeps a finished run's output: the answer of the run itself, as it tells it.
Result<std::string> json_of(const Backend& backend, const RunRecord& run) {
  if (backend.name().empty()) return run_to_json(run, WithOutput::yes);
  Client client = TRY(Client::connect(backend.name()));
  return ask(client, "GET", "/v1/runs/" + run.id);
}

// Nobody keeps interpreters for an embedded run. It is right all the same, and says so.
Result<RunRecord> run_without_daemon(EmbeddedBackend& backend, const kernel::Request& request,
                                     bool warm, LiveStreams& streams, StopSignals& signals) {
  RunRecord run = TRY(run_embedded(backend, request, streams, signals));
  if (warm) {
    run.warm = false;
    run.cold_because = "there is no daemon to keep an interpreter";
  }
  return run;
}

Result<RunRecord> run_to_its_end(Backend& backend, const kernel::Request& request, bool warm,
                                 LiveStreams& streams, StopSignals& signals) {
  auto* const remote = dynamic_cast<RemoteBackend*>(&backend);
  RunRecord run = remote != nullptr
                      ? TRY(run_remote(*remote, request, warm, streams, signals))
                      : TRY(run_without_daemon(dynamic_cast<EmbeddedBackend&>(backend), request,
                                               warm, streams, signals));
  if (!run.result)
    return kernel::fail(kernel::ErrorCode::internal, "the run is over and has no result");
  streams.output.flush(signals.fd());
  return run;
}

Result<int> run(const Options& options) {
  const auto backend = TRY(open_backend(options.global));
  const kernel::Request request = TRY(make_request(*backend, options.request));
  if (options.dry_run) {
    const std::string plan = TRY(backend->plan(request));
    return print(indented(plan)) ? exit_success : exit_error;
  }

  StopSignals signals = TRY(StopSignals::install());
  LiveStreams streams;
  streams.pass_output = !options.json;
  const auto run = run_to_its_end(*backend, request, options.request.warm, streams, signals);
  if (!run && signals.seen() > 0) {
    complain(run.error().message);
    return exit_run_failed;
  }
  if (!run) return tl::unexpected<kernel::Error>(run.error());

  // A pipe that got half of the output must not look like success.
  bool told = streams.output.stdout_error() == 0 &&
              (options.json || streams.output.written_bytes(kernel::Stream::stdout_stream) ==
                                   run->result->stdout_bytes);
  if (options.json) {
    const std::string json = TRY(json_of(*backend, *run));
    told = print(json);
  } else {
    tell_ending(options, *run, streams.output);
  }
  if (options.report) print_to_stderr(report(*run));
  const int exit_code =
      exit_code_of(*run->result, options.exit_status ? ExitStyle::program : ExitStyle::paddock);
  // A run that was stopped because its output cannot be written did not fail; a reader that has
  // had enough is another matter.
  const int error = streams.output.stdout_error();
  const bool was_cut_off =
      error != 0 && error != EPIPE && run->result->cause == kernel::Cause::killed_by_request;
  return was_cut_off || (exit_code == exit_success && !told) ? exit_error : exit_code;
}

}  // namespace

InputPiece read_input(int fd) {
  InputPiece piece;
  piece.bytes.resize(stdin_read_bytes);
  const ssize_t count = ::read(fd, piece.bytes.data(), piece.bytes.size());
  // Another error (a terminal that is gone, say) will not get better: it is the end of the input.
  piece.ended = count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  piece.bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return piece;
}

int run_command(const Options& options) {
  const auto exit_code = run(options);
  if (exit_code) return *exit_code;
  // Whoever asked for JSON parses stdout, whatever happens.
  if (options.json) print(error_to_json(exit_code.error()));
  return complain_and_exit_code(exit_code.error());
}

}  // namespace paddock::supervisor::cli
