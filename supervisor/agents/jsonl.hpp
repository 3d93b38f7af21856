#pragma once
// The protocol `jsonl` of RFC 0007: lines, and the messages among them. Pure, and for bytes that
// nobody trusts: whatever comes in, what is kept of it is bounded.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "supervisor/agents/agent_machine.hpp"

namespace paddock::supervisor {

constexpr std::size_t message_bytes_max = 64 * 1024;  // with its newline or without
constexpr std::size_t output_piece_bytes_max = 16 * 1024;
constexpr std::size_t message_text_bytes_max = 4 * 1024;  // of a summary; the rest is cut off
constexpr std::size_t charges_max = 32;                   // dimensions in one message

// Cuts a stream into lines. One that is longer than a message may be comes in pieces.
class LineSplitter {
 public:
  struct Line {
    std::string_view text;  // without its newline
    bool whole = true;      // false: a piece of a line
  };
  using OnLine = std::function<void(const Line&)>;

  void push(std::string_view bytes, const OnLine& on_line);
  void finish(const OnLine& on_line);  // what has no newline
  // The same of a stream that goes on: what follows is another piece of that line.
  void cut(const OnLine& on_line);
  std::string_view held() const { return held_; }

 private:
  std::string held_;  // never more than message_bytes_max
  bool in_long_line_ = false;
};

// Messages of an agent.
struct ReadyMessage {
  bool operator==(const ReadyMessage&) const = default;
};
struct LogMessage {
  std::string level;  // "debug", "info", "warning", "error"
  std::string text;

  bool operator==(const LogMessage&) const = default;
};
struct IterationMessage {
  bool done = false;
  std::uint64_t n = 0;

  bool operator==(const IterationMessage&) const = default;
};
using Charges = std::map<std::string, std::uint64_t>;  // dimension -> amount
struct ChargeMessage {
  Charges charges;

  bool operator==(const ChargeMessage&) const = default;
};
struct RefusedCharge {  // a charge message that charges nothing
  std::string why;

  bool operator==(const RefusedCharge&) const = default;
};
struct ExitMessage {
  ExitKind kind = ExitKind::crashed;
  std::string summary;

  bool operator==(const ExitMessage&) const = default;
};
using AgentMessage = std::variant<ReadyMessage, LogMessage, IterationMessage, ChargeMessage,
                                  RefusedCharge, ExitMessage>;

// Most output is no JSON, and is not paid for as such: a first look, which costs nothing.
bool may_be_message(std::string_view line);

// Nothing if the line is no message: then it is output.
std::optional<AgentMessage> parse_message(std::string_view line);

// Dimensions that the supervisor measures itself: no agent may charge them.
bool is_measured(std::string_view dimension);

// Messages to an agent, each a line.
struct BudgetLine {
  std::optional<std::uint64_t> limit;  // absent: unlimited
  std::uint64_t used = 0;

  bool operator==(const BudgetLine&) const = default;
};
std::string init_message(const std::string& agent, const std::string& run,
                         const std::map<std::string, BudgetLine>& budget);
std::string stop_message(std::chrono::milliseconds deadline);

}  // namespace paddock::supervisor
