#include "supervisor/ledger/retention.hpp"

#include <nlohmann/json.hpp>

namespace paddock::supervisor {

std::size_t events_to_delete(std::span<const AgedEvent> oldest, std::int64_t cutoff_us,
                             std::int64_t now_us, bool is_too_big) {
  std::size_t count = 0;
  if (is_too_big) {
    count = oldest.size();
  } else {
    for (std::size_t i = 0; i < oldest.size(); ++i) {
      if (oldest[i].at_us < cutoff_us)
        count = i + 1;
      else if (oldest[i].at_us <= now_us)
        break;
    }
  }
  return count == 1 && oldest.front().is_pruning ? 0 : count;
}

std::string pruned_body(const LedgerHead& anchor, std::size_t events, std::size_t runs) {
  const nlohmann::ordered_json body = {
      {"seq", anchor.seq}, {"hash", anchor.hash}, {"events", events}, {"runs", runs}};
  return body.dump();
}

std::optional<LedgerHead> anchor_in(std::string_view pruned_body) {
  try {
    const auto body = nlohmann::json::parse(pruned_body);
    return LedgerHead{.seq = body.at("seq").get<std::uint64_t>(),
                      .hash = body.at("hash").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace paddock::supervisor
