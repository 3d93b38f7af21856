#include "supervisor/agents/jsonl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "kernel/policy/agent_template.hpp"
#include "supervisor/json/dump.hpp"

namespace paddock::supervisor {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Nothing that is wrong with a message ends as an exception: each value is looked at before it is
// taken.
const std::string* text_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() ? nullptr : at->get_ptr<const std::string*>();
}

std::string cut(const std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // of UTF-8
  return text.substr(0, end);
}

// 7 and 7.0 are whole; -1, 7.5, 1e300 and "7" are no amounts.
std::optional<std::uint64_t> amount_in(const json& value) {
  constexpr std::uint64_t most = kernel::budget_amount_max;
  if (value.is_number_unsigned()) {
    const auto amount = value.get<std::uint64_t>();
    return amount <= most ? std::optional(amount) : std::nullopt;
  }
  if (!value.is_number_float()) return std::nullopt;
  const auto amount = value.get<double>();
  if (!(amount >= 0 && amount <= static_cast<double>(most)) || amount != std::floor(amount))
    return std::nullopt;
  return static_cast<std::uint64_t>(amount);
}

// Empty if `dimension` may be charged with it.
std::string charge_mistake(const std::string& dimension, const json& amount, Charges& charges) {
  if (!kernel::is_dimension(dimension))
    return fmt::format("'{}' is no dimension: [a-z][a-z0-9_]{{0,31}}", cut(dimension, 64));
  if (is_measured(dimension)) return fmt::format("'{}' is measured by the supervisor", dimension);
  const auto value = amount_in(amount);
  if (!value) return fmt::format("the amount of '{}' is no whole number from 0 to 2^53", dimension);
  charges[dimension] = *value;
  return {};
}

std::optional<AgentMessage> charge_in(const json& object) {
  const auto many = object.find("charges");
  Charges charges;
  if (many != object.end() && (object.contains("dim") || object.contains("amount")))
    return RefusedCharge{"it has 'charges' and 'dim' or 'amount': which of them is not clear"};
  if (many == object.end()) {
    const std::string* dimension = text_at(object, "dim");
    const auto amount = object.find("amount");
    if (dimension == nullptr || amount == object.end())
      return RefusedCharge{"it has neither 'dim' and 'amount' nor 'charges'"};
    if (std::string why = charge_mistake(*dimension, *amount, charges); !why.empty())
      return RefusedCharge{std::move(why)};
    return ChargeMessage{std::move(charges)};
  }
  if (!many->is_object() || many->empty() || many->size() > charges_max)
    return RefusedCharge{fmt::format("'charges' is an object of 1 to {} dimensions", charges_max)};
  // All of them or none.
  for (const auto& [dimension, amount] : many->items())
    if (std::string why = charge_mistake(dimension, amount, charges); !why.empty())
      return RefusedCharge{std::move(why)};
  return ChargeMessage{std::move(charges)};
}

std::optional<AgentMessage> log_in(const json& object) {
  constexpr std::array levels = {"debug", "info", "warning", "error"};
  const std::string* level = text_at(object, "level");
  const std::string* text = text_at(object, "text");
  if (level == nullptr || text == nullptr ||
      std::find(levels.begin(), levels.end(), *level) == levels.end())
    return std::nullopt;
  return LogMessage{*level, *text};
}

std::optional<AgentMessage> iteration_in(const json& object, bool done) {
  const auto n = object.find("n");
  const auto number = n == object.end() ? std::nullopt : amount_in(*n);
  if (!number) return std::nullopt;
  return IterationMessage{.done = done, .n = *number};
}

std::optional<AgentMessage> exit_in(const json& object) {
  const std::string* kind = text_at(object, "exit_kind");
  if (kind == nullptr) return std::nullopt;
  const std::string* summary = text_at(object, "summary");
  for (const ExitKind known :
       {ExitKind::completed, ExitKind::cancelled, ExitKind::failed, ExitKind::crashed})
    if (*kind == name_of(known))
      return ExitMessage{known, summary == nullptr ? "" : cut(*summary, message_text_bytes_max)};
  return std::nullopt;
}

}  // namespace

// ---- Lines -------------------------------------------------------------------------------------

void LineSplitter::push(std::string_view bytes, const OnLine& on_line) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::size_t size = std::min(newline, bytes.size());
    const std::size_t room = message_bytes_max - held_.size();
    if (size > room) {  // more than a message: the piece that there is
      held_ += bytes.substr(0, room);
      bytes.remove_prefix(room);
      on_line({held_, /*whole=*/false});
      held_.clear();
      in_long_line_ = true;
      continue;
    }
    if (newline == std::string_view::npos) {
      held_ += bytes;
      return;
    }
    if (held_.empty()) {
      // Nothing may have followed the last piece.
      if (size > 0 || !in_long_line_) on_line({bytes.substr(0, size), !in_long_line_});
    } else {
      held_ += bytes.substr(0, size);
      on_line({held_, !in_long_line_});
      held_.clear();
    }
    in_long_line_ = false;
    bytes.remove_prefix(size + 1);
  }
}

void LineSplitter::cut(const OnLine& on_line) {
  if (held_.empty()) return;
  on_line({held_, /*whole=*/false});
  held_.clear();
  in_long_line_ = true;
}

void LineSplitter::finish(const OnLine& on_line) {
  if (!held_.empty()) on_line({held_, !in_long_line_});
  held_.clear();
  in_long_line_ = false;
}

// ---- Messages ----------------------------------------------------------------------------------

bool is_measured(std::string_view dimension) {
  return dimension == "cpu_s" || dimension == "wall_s" || dimension == "fs_w_bytes";
}

bool may_be_message(std::string_view text) {
  constexpr std::size_t shortest = std::string_view(R"({"type":"ready"})").size();
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin != std::string_view::npos && text[begin] == '{' && text.size() >= shortest &&
         text.size() <= message_bytes_max;
}

std::optional<AgentMessage> parse_message(std::string_view text) {
  if (!may_be_message(text)) return std::nullopt;
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  const std::string* type = text_at(object, "type");
  if (type == nullptr) return std::nullopt;
  if (*type == "ready") return ReadyMessage{};
  if (*type == "log") return log_in(object);
  if (*type == "iteration_start") return iteration_in(object, /*done=*/false);
  if (*type == "iteration_done") return iteration_in(object, /*done=*/true);
  if (*type == "charge") return charge_in(object);
  if (*type == "exit") return exit_in(object);
  return std::nullopt;
}

std::string init_message(const std::string& agent, const std::string& run,
                         const std::map<std::string, BudgetLine>& budget) {
  ordered_json lines = ordered_json::object();
  for (const auto& [dimension, amounts] : budget) {
    ordered_json amounts_object = {{"limit", nullptr}, {"used", amounts.used}};
    if (amounts.limit) amounts_object["limit"] = *amounts.limit;
    lines[dimension] = std::move(amounts_object);
  }
  return dump_line(
      {{"type", "init"}, {"agent", agent}, {"run", run}, {"budget", std::move(lines)}});
}

std::string stop_message(std::chrono::milliseconds deadline) {
  return dump_line({{"type", "stop"}, {"deadline_ms", deadline.count()}});
}

}  // namespace paddock::supervisor
