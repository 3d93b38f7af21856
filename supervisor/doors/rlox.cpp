#include "supervisor/doors/rlox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "supervisor/doors/json_body.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/json/fields.hpp"
#include "supervisor/verify/parse_items.hpp"

namespace paddock::supervisor::rlox {
namespace {

using doors::Json;
using doors::OrderedJson;
using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::string_view tests_unusable = "tests_unusable";

// Causes of runs that were ended from outside, by a limit.
constexpr std::array<std::string_view, 7> contained_causes = {
    "wall_clock",   "cpu_limit",      "memory_limit",   "pids_limit",
    "output_limit", "syscall_denied", "file_size_limit"};

bool was_contained(const ItemAnswer& answer) {
  return std::find(contained_causes.begin(), contained_causes.end(), answer.cause) !=
         contained_causes.end();
}

}  // namespace

Result<Verify> parse(std::string_view body, const std::string& profile) {
  const Json object = TRY(doors::parse_body(body));
  const std::string code = TRY(doors::needed_text(object, "code"));
  const std::string tests = TRY(doors::needed_text(object, "tests"));
  Verify verify;
  if (const auto at = object.find("is_adversarial"); at != object.end() && !at->is_null()) {
    if (!at->is_boolean()) return wrong_value("is_adversarial", "true or false");
    verify.is_adversarial = at->get<bool>();
  }
  // Checked by the one who knows what an item is. The reward stays what it was with rlox: 1 or 0.
  const OrderedJson item = {
      {"id", "rlox"}, {"code", code}, {"tests", {{"kind", "assert"}, {"source", tests}}}};
  verify.request = TRY(parse_items(dump_line({{"items", OrderedJson::array({item})},
                                              {"profile", profile},
                                              {"scoring", name_of(Scoring::all)}})));
  if (const auto* refused = std::get_if<RefusedItem>(&verify.request.items.front()))
    return fail(ErrorCode::invalid_request, refused->why);
  return verify;
}

std::optional<kernel::Error> fault_of(const ItemAnswer& answer) {
  if (answer.reward) return std::nullopt;
  return kernel::Error{
      answer.cause == tests_unusable ? ErrorCode::invalid_request : ErrorCode::internal,
      fmt::format("{}{}{}", answer.cause, answer.detail.empty() ? "" : ": ", answer.detail)};
}

std::string render(const ItemAnswer& answer, bool is_adversarial,
                   std::chrono::duration<double> time) {
  constexpr double ms_per_s = 1000;
  const double seconds = std::max(time.count(), 1e-6);
  const double ran_seconds = static_cast<double>(answer.run_ms) / ms_per_s;
  const bool contained = was_contained(answer);
  OrderedJson times = OrderedJson::array();
  if (contained) times.push_back(ran_seconds);
  // A verdict is given when nothing of its runs is left: there is no contagion to count.
  return dump_line(
      {{"reward", *answer.reward},
       {"backend_stats",
        {{"batch_wall_secs", seconds},
         {"rollouts_completed", 1},
         {"rollouts_per_sec", 1 / seconds},
         {"tool_calls_per_sec", static_cast<double>(answer.runs.size()) / seconds},
         {"adversarial_injected", is_adversarial ? 1 : 0},
         {"adversarial_contained", is_adversarial ? 1 : 0},
         {"contagion_events", 0},
         {"setup_error_events", 0},
         {"time_to_contain_secs", times},
         {"cgroup_freeze_events", 0},
         {"cgroup_kill_events", contained ? 1 : 0},
         {"oom_kill_events", answer.cause == "memory_limit" ? 1 : 0},
         {"gpu_idle_attributable_to_hang_secs", answer.cause == "wall_clock" ? ran_seconds : 0.0},
         {"step_index", 0}}}});
}

}  // namespace paddock::supervisor::rlox
