// `paddock run` with a daemon: a stream of events comes in, pieces of stdin go out.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/request.hpp"
#include "supervisor/cli/run_command.hpp"
#include "supervisor/cli/run_json.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Error;
using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using Clock = std::chrono::steady_clock;

// How long to wait before a piece of stdin is offered again that the daemon had no room for.
constexpr std::chrono::milliseconds stdin_retry_pause{50};
constexpr unsigned status_too_busy = 429;

class RemoteRun {
 public:
  RemoteRun(Client& stream, std::string socket, LiveStreams& streams, StopSignals& signals)
      : stream_(stream), socket_(std::move(socket)), streams_(streams), signals_(signals) {}

  Result<RunRecord> drive() {
    while (!finished_) TRY_VOID(turn());
    return std::move(*finished_);
  }

 private:
  Result<void> turn() {
    std::vector<pollfd> polled = {
        // What was read and not yet written is bounded by not reading on.
        {streams_.output.pending_bytes() < pending_bytes_max ? stream_.fd() : -1, POLLIN, 0},
        {signals_.fd(), POLLIN, 0},
        {wants_input() ? streams_.input : -1, POLLIN, 0},
    };
    streams_.output.add_watches(polled);
    const int ready = ::poll(polled.data(), polled.size(), milliseconds_until_retry());
    if (ready < 0 && errno != EINTR) return kernel::fail_errno("poll");
    if (sending_ && Clock::now() >= retry_at_) TRY_VOID(send_input());
    if (ready <= 0) return {};
    if (polled[1].revents != 0) TRY_VOID(take_signals());
    if (polled[2].revents != 0) TRY_VOID(take_input());
    for (std::size_t i = 3; i < polled.size(); ++i)
      if (polled[i].revents != 0) streams_.output.on_ready(polled[i].fd);
    if (streams_.output.stdout_error() != 0) TRY_VOID(stop());
    if (polled[0].revents != 0) TRY_VOID(read_stream());
    return {};
  }

  // ---- Events ----------------------------------------------------------------------------------

  Result<void> read_stream() {
    const Client::Progress progress = TRY(stream_.read_some(received_));
    const bool refused = progress.status != 0 && progress.status / 100 != 2;
    if (refused && progress.complete)
      return tl::unexpected<Error>(error_of({progress.status, received_}));
    if (refused) return {};
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = received_.find('\n', begin)) != std::string::npos;
         begin = end + 1)
      TRY_VOID(take_event(std::string_view(received_).substr(begin, end - begin)));
    received_.erase(0, begin);
    if (progress.complete && !finished_)
      return fail(ErrorCode::io, "the daemon ended the stream before the run was over");
    return {};
  }

  Result<void> take_event(std::string_view line) {
    using Kind = StreamEvent::Kind;
    StreamEvent event = TRY(event_from_json(line));
    id_ = event.id;
    switch (event.kind) {
      case Kind::started:
        started_ = true;
        break;
      case Kind::stdout_bytes:
        pass(kernel::Stream::stdout_stream, event.bytes);
        break;
      case Kind::stderr_bytes:
        pass(kernel::Stream::stderr_stream, event.bytes);
        break;
      case Kind::finished:
        finished_ = std::move(event.run);
        break;
      case Kind::other:
        break;
    }
    return {};
  }

  void pass(kernel::Stream stream, std::string_view bytes) {
    if (streams_.pass_output) streams_.output.push(stream, bytes);
  }

  // ---- Standard input --------------------------------------------------------------------------

  bool wants_input() const { return started_ && !input_ended_ && !sending_; }

  int milliseconds_until_retry() const {
    if (!sending_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(retry_at_ - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }

  Result<void> take_input() {
    InputPiece piece = read_input(streams_.input);
    unsent_ = std::move(piece.bytes);
    input_ended_ = piece.ended;
    sending_ = !unsent_.empty() || input_ended_;
    return sending_ ? send_input() : Result<void>();
  }

  // A connection of its own: the stream's is busy with the stream.
  Result<void> send_input() {
    Client client = TRY(Client::connect(socket_));
    const std::string target = "/v1/runs/" + id_ + "/stdin" + (input_ended_ ? "?close=true" : "");
    const HttpResponse response = TRY(client.request("POST", target, unsent_));
    if (response.status == status_too_busy) {
      retry_at_ = Clock::now() + stdin_retry_pause;
      return {};
    }
    // Any other refusal: the run is ending and takes no more. Its end is what counts.
    if (!response.ok()) input_ended_ = true;
    sending_ = false;
    unsent_.clear();
    return {};
  }

  // ---- Stopping --------------------------------------------------------------------------------

  Result<void> take_signals() {
    signals_.take();
    // The daemon kills a run whose client goes away, a queued one too.
    if (signals_.seen() > 1 || id_.empty())
      return fail(ErrorCode::io, "interrupted; the daemon ends the run");
    return stop();
  }

  Result<void> stop() {
    if (std::exchange(stopping_, true) || id_.empty()) return {};
    Client client = TRY(Client::connect(socket_));
    const HttpResponse response = TRY(client.request("DELETE", "/v1/runs/" + id_));
    if (!response.ok()) return tl::unexpected<Error>(error_of(response));
    return {};
  }

  Client& stream_;
  std::string socket_;
  LiveStreams& streams_;
  StopSignals& signals_;

  std::string received_;  // of the stream: a line that is not complete yet
  RunId id_;
  bool started_ = false;
  std::optional<RunRecord> finished_;

  std::string unsent_;
  bool sending_ = false;  // `unsent_`, or the end of the input, has yet to be taken
  bool input_ended_ = false;
  Clock::time_point retry_at_{};

  bool stopping_ = false;
};

}  // namespace

Result<RunRecord> run_remote(RemoteBackend& backend, const kernel::Request& request, bool warm,
                             LiveStreams& streams, StopSignals& signals) {
  const std::string body = TRY(request_to_json(
      {.request = request, .detach = false, .stream = true, .stdin_open = true, .warm = warm}));
  TRY_VOID(backend.client().send("POST", "/v1/runs", body));
  return RemoteRun(backend.client(), backend.name(), streams, signals).drive();
}

}  // namespace paddock::supervisor::cli
