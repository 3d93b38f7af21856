// `paddock run` without a daemon: this process supervises the run.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "kernel/base/process_tree.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "kernel/run/strays.hpp"
#include "supervisor/cli/run_command.hpp"
#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Clock;
using kernel::Result;
using kernel::Run;

constexpr std::chrono::milliseconds strays_time_max{2'000};
constexpr int strays_pause_ms = 5;

// Like kernel::drive, with the streams of this process and its signals besides.
class EmbeddedRun {
 public:
  EmbeddedRun(Run& run, LiveStreams& streams, StopSignals& signals)
      : run_(run), streams_(streams), signals_(signals) {}

  void drive() {
    while (!run_.finished()) {
      wait();
      if (streams_.output.stdout_error() != 0) run_.stop();  // nobody reads it any more
    }
  }

 private:
  void wait() {
    run_.release();  // nothing of the last turn is watched any more
    run_.pause_output(streams_.output.pending_bytes() > pending_bytes_max);
    polled_.clear();
    for (const Run::Watch& watch : run_.watches()) polled_.push_back({watch.fd, watch.events, 0});
    const std::size_t own = polled_.size();
    polled_.push_back({signals_.fd(), POLLIN, 0});
    polled_.push_back({wants_input() ? streams_.input : -1, POLLIN, 0});
    streams_.output.add_watches(polled_);

    const int ready =
        ::poll(polled_.data(), polled_.size(), kernel::milliseconds_until(run_.next_time()));
    if (ready < 0 && errno != EINTR) return run_.abandon();
    run_.on_time();
    if (ready <= 0) return;
    for (std::size_t i = 0; i < own && !run_.finished(); ++i)
      if (polled_[i].revents != 0) run_.on_ready(polled_[i].fd);
    if (polled_[own].revents != 0) take_signals();
    if (polled_[own + 1].revents != 0) take_input();
    for (std::size_t i = own + 2; i < polled_.size(); ++i)
      if (polled_[i].revents != 0) streams_.output.on_ready(polled_[i].fd);
  }

  bool wants_input() const {
    return !input_ended_ && run_.stdin_pending_bytes() < pending_bytes_max;
  }

  void take_input() {
    const InputPiece piece = read_input(streams_.input);
    run_.write_stdin(piece.bytes);
    input_ended_ = piece.ended;
    if (input_ended_) run_.close_stdin();
  }

  void take_signals() {
    signals_.take();
    if (signals_.seen() == 1) run_.stop();
    if (signals_.seen() > 1 && !run_.finished()) run_.abandon();
  }

  Run& run_;
  LiveStreams& streams_;
  StopSignals& signals_;
  std::vector<pollfd> polled_;
  bool input_ended_ = false;
};

// Ends with the subreaper's duty done: nothing that the run started outlives it.
class Subreaper {
 public:
  // Children from before an exec into paddock are somebody else's.
  Subreaper() : before_(kernel::children_of(::getpid())) { kernel::become_subreaper(); }

  void kill_strays() const {
    const auto is_known = [&](pid_t pid) {
      return std::find(before_.begin(), before_.end(), pid) != before_.end();
    };
    const Clock::time_point deadline = Clock::now() + strays_time_max;
    while (kernel::kill_strays(is_known) > 0) {
      if (Clock::now() > deadline)
        return complain("a process of the run could not be killed; look for it with ps");
      ::poll(nullptr, 0, strays_pause_ms);
    }
  }

 private:
  std::vector<pid_t> before_;
};

}  // namespace

Result<RunRecord> run_embedded(EmbeddedBackend& backend, const kernel::Request& request,
                               LiveStreams& streams, StopSignals& signals) {
  const Subreaper subreaper;
  kernel::RunOptions options;
  options.stdin_stays_open = true;
  if (streams.pass_output)
    options.on_output = [&streams](kernel::Stream stream, std::string_view bytes) {
      streams.output.push(stream, bytes);
    };
  EmbeddedBackend::Started started = TRY(backend.start(request, std::move(options)));
  EmbeddedRun(*started.run, streams, signals).drive();
  subreaper.kill_strays();
  return finished_record(std::move(started.record), *started.run);
}

}  // namespace paddock::supervisor::cli
