#include "supervisor/cli/verify_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/policy/units.hpp"
#include "supervisor/cli/json_render.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/json/dump.hpp"

namespace paddock::supervisor::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t bar_cells = 24;

AnswerLine invalid_line(const ItemLine& line, const std::string& cause, const std::string& detail) {
  const std::string id = line.id.empty() ? fmt::format("line {}", line.number) : line.id;
  ordered_json json = {{"id", id},
                       {"group", line.group.empty() ? ordered_json() : ordered_json(line.group)},
                       {"verdict", "invalid"},
                       {"reward", nullptr},
                       {"passed", 0},
                       {"total", 0},
                       {"cases", ordered_json::array()},
                       {"cause", cause},
                       {"detail", detail}};
  return {.id = id,
          .verdict = "invalid",
          .reward = {},
          .cause = cause,
          .detail = detail,
          .json = dump(json)};
}

std::size_t count_of(const std::map<std::string, std::size_t>& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

kernel::Result<std::optional<AnswerLine>> answer_line(std::string_view stream_line) {
  return render<std::optional<AnswerLine>>(
      stream_line, [](ordered_json json) -> std::optional<AnswerLine> {
        if (json.at("event") != "verdict") return std::nullopt;
        json.erase("event");
        AnswerLine answer{.id = json.at("id").get<std::string>(),
                          .verdict = json.at("verdict").get<std::string>(),
                          .reward = {},
                          .cause = json.at("cause").get<std::string>(),
                          .detail = json.at("detail").get<std::string>(),
                          .json = json.dump()};
        if (!json.at("reward").is_null()) answer.reward = json.at("reward").get<double>();
        return answer;
      });
}

AnswerLine answer_to_mistake(const ItemLine& line) {
  return invalid_line(line, "invalid_request",
                      fmt::format("line {}: {}", line.number, line.mistake));
}

AnswerLine answer_to_missing(const ItemLine& line, const std::string& why) {
  return invalid_line(line, "unanswered", why);
}

std::string text_of(const AnswerLine& answer) {
  const std::string reward = answer.reward ? fmt::format("{:.3f}", *answer.reward) : "-";
  std::string line =
      fmt::format("{:<8} {:>5}  {}", printable(answer.verdict), reward, printable(answer.id));
  if (answer.verdict != "pass") line += "  " + printable(answer.cause);
  if (answer.verdict != "pass" && !answer.detail.empty()) line += ": " + printable(answer.detail);
  return line + "\n";
}

void VerifyTally::add(const AnswerLine& answer) {
  ++items;
  ++verdicts[answer.verdict];
  if (answer.reward) {
    rewards += *answer.reward;
  } else {
    ++invalid_causes[answer.cause];
  }
}

std::size_t VerifyTally::invalid() const {
  return count_of(verdicts, "invalid");
}

std::string summary(const VerifyTally& tally, std::chrono::milliseconds took) {
  std::string causes;
  for (const auto& [cause, count] : tally.invalid_causes)
    causes += fmt::format("{}{}{}", causes.empty() ? "" : ", ",
                          count > 1 ? fmt::format("{} ", count) : "", printable(cause));
  std::string text = fmt::format("{} item{}: {} pass, {} fail, {} invalid", tally.items,
                                 tally.items == 1 ? "" : "s", count_of(tally.verdicts, "pass"),
                                 count_of(tally.verdicts, "fail"), tally.invalid());
  if (!causes.empty()) text += fmt::format(" ({})", causes);
  const std::size_t judged = tally.items - tally.invalid();
  if (judged > 0)
    text += fmt::format("; mean reward {:.3f}", tally.rewards / static_cast<double>(judged));
  return text + fmt::format("; {:.1f} s\n", kernel::seconds_in(took));
}

std::string progress_bar(const VerifyTally& tally, std::size_t of, std::chrono::milliseconds took,
                         std::size_t columns) {
  const std::size_t full = of == 0 ? bar_cells : tally.items * bar_cells / of;
  std::string bar = fmt::format(
      "[{:-<{}}]  {}/{}  {} fail  {} invalid  {:.0f} s", std::string(full, '#'), bar_cells,
      tally.items, of, count_of(tally.verdicts, "fail"), tally.invalid(), kernel::seconds_in(took));
  bar.resize(std::min(bar.size(), columns));
  return bar;
}

}  // namespace paddock::supervisor::cli
