// Goal: whatever an agent writes to its stdout, what is kept of it is bounded, and the messages in
// it do not depend on how the stream comes in. Method: the first byte of the input is the size of
// the pieces. In the rest a NUL and a number repeat the byte before them, so that lines can be
// longer than a message may be. The lines must be those that plain cutting finds, and a message
// that is printed must be read as itself.

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "fuzz/property.hpp"
#include "kernel/policy/agent_template.hpp"
#include "supervisor/agents/jsonl.hpp"
#include "supervisor/json/encoding.hpp"

using namespace paddock::supervisor;
using nlohmann::json;
using paddock::fuzz::must_hold;
using paddock::kernel::budget_amount_max;

namespace {

constexpr std::size_t stream_bytes_max = 5 * message_bytes_max / 2;
constexpr std::size_t repeated_bytes = 1024;  // times the number
constexpr std::size_t pieces_max = 256;       // so that no input takes long

std::string stream_of(std::string_view input) {
  std::string stream;
  for (std::size_t at = 0; at < input.size() && stream.size() < stream_bytes_max; ++at) {
    if (input[at] != '\0' || stream.empty() || at + 1 == input.size()) {
      stream += input[at];
      continue;
    }
    const std::size_t count = static_cast<unsigned char>(input[++at]) * repeated_bytes;
    stream.append(std::min(count, stream_bytes_max - stream.size()), stream.back());
  }
  return stream;
}

struct Piece {
  std::string text;
  bool whole = true;

  bool operator==(const Piece&) const = default;
};

std::vector<Piece> cut(std::string_view stream, std::size_t piece_bytes) {
  std::vector<Piece> lines;
  LineSplitter splitter;
  const auto take = [&](const LineSplitter::Line& line) {
    lines.push_back({std::string(line.text), line.whole});
  };
  for (; !stream.empty(); stream.remove_prefix(std::min(piece_bytes, stream.size()))) {
    splitter.push(stream.substr(0, piece_bytes), take);
    must_hold(splitter.held().size() <= message_bytes_max, "what is held back is bounded");
  }
  splitter.finish(take);
  must_hold(splitter.held().empty(), "nothing is held back at the end");
  return lines;
}

std::vector<Piece> lines_of(std::string_view stream) {
  std::vector<Piece> lines;
  while (!stream.empty()) {
    const std::size_t end = std::min(stream.find('\n'), stream.size());
    std::string_view line = stream.substr(0, end);
    const bool whole = line.size() <= message_bytes_max;
    do {
      lines.push_back({std::string(line.substr(0, message_bytes_max)), whole});
      line.remove_prefix(std::min(line.size(), message_bytes_max));
    } while (!line.empty());
    stream.remove_prefix(std::min(end + 1, stream.size()));
  }
  return lines;
}

json printed(const ReadyMessage&) {
  return {{"type", "ready"}};
}
json printed(const LogMessage& log) {
  constexpr std::array levels = {"debug", "info", "warning", "error"};
  must_hold(std::find(levels.begin(), levels.end(), log.level) != levels.end(),
            "a level is one of four", log.level);
  return {{"type", "log"}, {"level", log.level}, {"text", log.text}};
}
json printed(const IterationMessage& iteration) {
  must_hold(iteration.n <= budget_amount_max, "a number is one that JSON carries");
  return {{"type", iteration.done ? "iteration_done" : "iteration_start"}, {"n", iteration.n}};
}
json printed(const ChargeMessage& message) {
  must_hold(!message.charges.empty() && message.charges.size() <= charges_max,
            "a message charges one to 32 dimensions");
  for (const auto& [dimension, amount] : message.charges)
    must_hold(paddock::kernel::is_dimension(dimension) && !is_measured(dimension) &&
                  amount <= budget_amount_max,
              "an agent charges amounts of dimensions that are its own", dimension);
  return {{"type", "charge"}, {"charges", message.charges}};
}
json printed(const RefusedCharge& refused) {
  constexpr std::size_t reason_bytes_max = 160;
  must_hold(!refused.why.empty() && refused.why.size() <= reason_bytes_max && is_utf8(refused.why),
            "a refusal says why, in few words", refused.why);
  return {{"type", "charge"}};
}
json printed(const ExitMessage& exit) {
  must_hold(exit.summary.size() <= message_text_bytes_max, "a summary is bounded");
  return {{"type", "exit"}, {"exit_kind", name_of(exit.kind)}, {"summary", exit.summary}};
}

void check_message(std::string_view line) {
  const auto message = parse_message(line);
  if (!message) return;
  must_hold(line.size() <= message_bytes_max, "a message has at most 64 KiB");
  const json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  must_hold(object.is_object(), "a message is one JSON object", line);
  std::string text;
  try {
    text = std::visit([](const auto& one) { return printed(one); }, *message).dump();
  } catch (const json::exception&) {
    must_hold(false, "what is kept of a message is UTF-8", line);
  }
  if (text.size() > message_bytes_max) return;  // "\u007f" has become shorter, "\x7f" longer
  const auto again = parse_message(text);
  must_hold(again && again->index() == message->index(), "a printed message is one", text);
  if (!std::holds_alternative<RefusedCharge>(*message))
    must_hold(*again == *message, "a printed message is read as itself", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string stream = stream_of(paddock::fuzz::as_text(data + 1, size - 1));
  // From single bytes to more than a message.
  const std::size_t piece_bytes =
      std::max((std::size_t{1} << data[0] % 18u) + data[0] / 18u, stream.size() / pieces_max);
  const std::vector<Piece> lines = lines_of(stream);
  must_hold(cut(stream, stream.size()) == lines, "a stream is cut at its newlines");
  must_hold(cut(stream, piece_bytes) == lines, "lines do not depend on the pieces");
  for (const Piece& line : lines) check_message(line.text);
  return 0;
}
