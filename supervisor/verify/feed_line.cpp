#include "supervisor/verify/feed_line.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/json/dump.hpp"
#include "supervisor/telemetry/timestamp.hpp"
#include "supervisor/verify/verdict_transition.hpp"

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

ordered_json head(const StoredEvent& stored, const char* kind) {
  return {{"seq", stored.seq},
          {"at", timestamp(stored.event.at)},
          {"kind", kind},
          {"tenant", stored.event.tenant}};
}

// Nothing if they are no numbers: somebody has edited them.
std::optional<std::vector<std::optional<double>>> rewards_in(const ordered_json& body) {
  const auto at = body.find("rewards");
  if (at == body.end() || !at->is_array()) return std::nullopt;
  std::vector<std::optional<double>> rewards;
  for (const ordered_json& reward : *at) {
    if (reward.is_null()) {
      rewards.emplace_back();
    } else if (reward.is_number()) {
      rewards.emplace_back(reward.get<double>());
    } else {
      return std::nullopt;
    }
  }
  return rewards;
}

std::string damaged_line(const StoredEvent& stored) {
  ordered_json object = head(stored, "damaged");
  object["detail"] = "the event has been edited; see `paddock ledger verify`";
  return dump_line(object);
}

}  // namespace

std::string feed_line(const StoredEvent& stored, AdvantageKind advantage_kind) {
  const bool is_group = stored.event.kind == group_event;
  if (!is_group && stored.event.kind != verdict_event) return {};
  const ordered_json body =
      ordered_json::parse(stored.event.body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) return damaged_line(stored);
  ordered_json object = head(stored, is_group ? "group" : "verdict");
  for (const auto& entry : body.items())
    if (!object.contains(entry.key())) object[entry.key()] = entry.value();
  if (!is_group) return dump_line(object);
  const auto rewards = rewards_in(body);
  if (!rewards) return damaged_line(stored);
  ordered_json numbers = ordered_json::array();
  for (const auto& advantage : advantages(*rewards, advantage_kind))
    numbers.push_back(advantage ? ordered_json(*advantage) : ordered_json());
  object["advantages"] = std::move(numbers);
  return dump_line(object);
}

}  // namespace paddock::supervisor
