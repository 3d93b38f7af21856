// `paddock verify`: items from a file, answers on stdout, a bar and a summary on stderr.

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon.hpp"
#include "supervisor/cli/exit_code.hpp"
#include "supervisor/cli/item_lines.hpp"
#include "supervisor/cli/stop_signals.hpp"
#include "supervisor/cli/temporary_daemon.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/cli/verify_text.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds bar_interval{100};
constexpr std::size_t read_piece_bytes = 1u << 20;

Result<std::string> read_items(const std::string& path) {
  const bool is_stdin = path == "-";
  const kernel::Fd file(is_stdin ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_stdin && !file) return kernel::fail_errno("open '" + path + "'");
  std::string text;
  std::vector<char> piece(read_piece_bytes);
  for (;;) {
    const ssize_t count = ::read(is_stdin ? STDIN_FILENO : file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return kernel::fail_errno("read '" + path + "'");
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

// ---- What is shown -----------------------------------------------------------------------------

// Answers in the order of the input, or as they come, with a bar below them on a terminal.
class Output {
 public:
  Output(const Options& options, const std::vector<ItemLine>& lines)
      : options_(options), lines_(lines), answers_(lines.size()) {}

  bool take(std::size_t place, AnswerLine answer) {
    tally_.add(answer);
    answers_[place] = std::move(answer);
    std::string text;
    if (options_.verify.stream) {
      text = text_of_one(*answers_[place]);
    } else {
      for (; next_ < answers_.size() && answers_[next_]; ++next_)
        text += text_of_one(*answers_[next_]);
    }
    if (text.empty()) return draw_bar(), true;
    clear_bar();
    const bool printed = print(text);
    draw_bar();
    return printed;
  }

  bool is_known(std::size_t place) const { return answers_[place].has_value(); }
  const VerifyTally& tally() const { return tally_; }

  void finish() {
    clear_bar();
    print_to_stderr(summary(tally_, took()));
  }

 private:
  std::string text_of_one(const AnswerLine& answer) const {
    return options_.json ? answer.json + "\n" : text_of(answer);
  }

  std::chrono::milliseconds took() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_);
  }

  void draw_bar() {
    if (!has_bar_ || Clock::now() < bar_due_) return;
    bar_due_ = Clock::now() + bar_interval;
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    const std::size_t columns = known ? size.ws_col - 1u : 79u;
    print_to_stderr("\r" + progress_bar(tally_, lines_.size(), took(), columns) + "\x1b[K");
    is_drawn_ = true;
  }

  void clear_bar() {
    if (is_drawn_) print_to_stderr("\r\x1b[K");
    is_drawn_ = false;
    bar_due_ = {};
  }

  const Options& options_;
  const std::vector<ItemLine>& lines_;
  std::vector<std::optional<AnswerLine>> answers_;
  VerifyTally tally_;
  std::size_t next_ = 0;  // the first that is not printed
  Clock::time_point began_ = Clock::now();
  bool has_bar_ = ::isatty(STDERR_FILENO) == 1;
  bool is_drawn_ = false;
  Clock::time_point bar_due_;
};

// ---- One request -------------------------------------------------------------------------------

// Reads the answers of one request as they come. Fails with io if they end too early or the user
// has had enough.
class AnswerReader {
 public:
  AnswerReader(Client& client, const std::vector<ItemLine>& lines,
               const std::vector<std::size_t>& places, Output& output, StopSignals& signals)
      : client_(client), output_(output), signals_(signals) {
    for (const std::size_t place : places) places_[lines[place].id] = place;
  }

  Result<void> read_all() {
    for (;;) {
      pollfd polled[] = {{client_.fd(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
      if (::poll(polled, 2, -1) < 0 && errno != EINTR) return kernel::fail_errno("poll");
      if (signals_.seen() > 0) return fail(ErrorCode::io, "it was interrupted");
      if (polled[0].revents == 0) continue;
      const Client::Progress progress = TRY(client_.read_some(received_));
      const bool refused = progress.status != 0 && progress.status / 100 != 2;
      if (refused && progress.complete)
        return tl::unexpected<kernel::Error>(error_of({progress.status, received_}));
      if (!refused && progress.status != 0) TRY_VOID(take_lines());
      if (progress.complete) return {};
    }
  }

 private:
  Result<void> take_lines() {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = received_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      if (end == begin) continue;
      auto answer = TRY(answer_line(std::string_view(received_).substr(begin, end - begin)));
      if (!answer) continue;
      const auto place = places_.find(answer->id);
      if (place == places_.end() || output_.is_known(place->second)) continue;
      if (!output_.take(place->second, std::move(*answer)))
        return fail(ErrorCode::io, "nobody reads the answers");
    }
    received_.erase(0, begin);
    return {};
  }

  Client& client_;
  Output& output_;
  StopSignals& signals_;
  std::map<std::string, std::size_t> places_;
  std::string received_;
};

Result<void> judge(const std::string& socket, const std::vector<ItemLine>& lines,
                   const std::vector<std::size_t>& places, const Options& options, Output& output,
                   StopSignals& signals) {
  Client client = TRY(Client::connect(socket));
  TRY_VOID(client.send("POST", "/v1/verify", verify_body(lines, places, options.verify)));
  return AnswerReader(client, lines, places, output, signals).read_all();
}

// ---- The command -------------------------------------------------------------------------------

int exit_code_of(const VerifyTally& tally) {
  if (tally.invalid_causes.contains("cannot_isolate")) return exit_cannot_isolate;
  return tally.invalid() > 0 ? exit_invalid_items : exit_success;
}

Result<int> verify_file(const Options& options) {
  const std::vector<ItemLine> lines = item_lines(TRY(read_items(options.verify.file)));
  if (lines.empty())
    return fail(ErrorCode::invalid_request, "there is no item in '" + options.verify.file + "'");
  StopSignals signals = TRY(StopSignals::install());
  std::optional<TemporaryDaemon> own;
  const bool has_daemon = !options.global.embedded && TRY(find_daemon(options.global));
  if (!has_daemon) own.emplace(TRY(TemporaryDaemon::start(options.global)));
  const std::string socket = own ? own->socket() : daemon_address(options.global).socket;

  Output output(options, lines);
  for (std::size_t place = 0; place < lines.size(); ++place)
    if (!lines[place].mistake.empty() && !output.take(place, answer_to_mistake(lines[place])))
      return exit_error;
  std::optional<kernel::Error> failure;
  for (const auto& places : requests_of(lines)) {
    const auto judged = judge(socket, lines, places, options, output, signals);
    if (judged) continue;
    failure = judged.error();
    break;
  }
  for (std::size_t place = 0; place < lines.size(); ++place) {
    if (output.is_known(place)) continue;
    const std::string why = failure ? failure->message : "the daemon did not answer it";
    if (!output.take(place, answer_to_missing(lines[place], why))) return exit_error;
  }
  output.finish();
  if (failure) return tl::unexpected<kernel::Error>(*failure);
  return exit_code_of(output.tally());
}

}  // namespace

int verify_command(const Options& options) {
  return end_with(verify_file(options));
}

}  // namespace paddock::supervisor::cli
