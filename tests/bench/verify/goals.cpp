#include <algorithm>
#include <functional>

#include "bench/verify/report.hpp"

namespace bench {
namespace {

using Number = std::optional<double>;

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

// At the concurrency that is best for it.
Number best_per_second(const Report& report, const std::string& name) {
  Number best;
  for (const Row& row : report.rows)
    if (row.name == name && row.missing.empty())
      best = std::max(best.value_or(0), row.per_second());
  return best;
}

// At the lowest concurrency.
Number median(const Report& report, const std::string& name) {
  for (const Row& row : report.rows)
    if (row.name == name && row.missing.empty()) return row.latency.percentile(0.5);
  return std::nullopt;
}

Number quotient(Number above, Number below) {
  if (!above || !below || *below <= 0) return std::nullopt;
  return *above / *below;
}

std::string why_missing(const Report& report, const std::string& name) {
  for (const Row& row : report.rows)
    if (row.name == name && !row.missing.empty()) return name + ": " + row.missing;
  return "not measured";
}

using Measure = std::function<Number(const std::string& paddock)>;

Goal goal_of_rows(const Report& report, const std::string& name, double limit, bool at_least,
                  const std::string& other, const Measure& measure) {
  const Number warm = measure("paddock warm STRICT");
  const Number cold = measure("paddock cold STRICT");
  Goal goal{name, (at_least ? ">= " : "<= ") + text_of(limit), "", false, "-"};
  if (cold) goal.if_cold = text_of(*cold);
  if (warm) {
    goal.measured = text_of(*warm);
    goal.met = at_least ? *warm >= limit : *warm <= limit;
  } else {
    goal.measured = why_missing(report, "paddock warm STRICT");
    if (!other.empty() && !best_per_second(report, other))
      goal.measured = why_missing(report, other);
  }
  return goal;
}

Goal goal_at_most(const std::string& name, double limit, Number measured,
                  const std::string& why_not) {
  return {name, "<= " + text_of(limit), measured ? text_of(*measured) : why_not,
          measured && *measured <= limit, "-"};
}

// How much more an item costs at any length of the queue than alone.
Number worst_growth(const std::vector<QueuedRow>& queue, std::uint64_t QueuedRow::*part) {
  if (queue.size() < 2) return std::nullopt;
  double worst = 0;
  for (const QueuedRow& row : queue) worst = std::max(worst, row.ms_each(row.*part));
  return quotient(worst, queue.front().ms_each(queue.front().*part));
}

}  // namespace

std::vector<Goal> goals_of(const Report& report) {
  const auto best = [&](const std::string& name) { return best_per_second(report, name); };
  const auto rate_beside = [&](const std::string& other) {
    return [&, other](const std::string& paddock) { return quotient(best(paddock), best(other)); };
  };
  const std::string unprotected = "subprocess.run python3 -c";
  const std::string forked = "fork + exec() in python3";
  const std::string judge = "go-judge python3 -c";
  std::vector<Goal> goals = {
      goal_of_rows(report, "verifies/s by those of " + unprotected, 5, true, unprotected,
                   rate_beside(unprotected)),
      goal_of_rows(report, "p50 by that of " + forked, 2.5, false, forked,
                   [&](const std::string& paddock) {
                     return quotient(median(report, paddock), median(report, forked));
                   }),
      goal_of_rows(report, "verifies/s", 500, true, "", best),
      goal_of_rows(report, "verifies/s by those of " + judge, 4, true, judge, rate_beside(judge))};
  const std::string items =
      report.queue.empty() ? "" : " (1 to " + std::to_string(report.queue.back().items) + ")";
  goals.push_back(goal_at_most("CPU of an item queued, by one alone" + items, 1.25,
                               worst_growth(report.queue, &QueuedRow::cpu_us), "not measured"));
  goals.push_back(goal_at_most("the same of paddockd itself" + items, 1.25,
                               worst_growth(report.queue, &QueuedRow::paddockd_us),
                               "not measured"));
  goals.push_back(goal_at_most("memory at the end, by that at a tenth", 1.05,
                               report.memory ? Number(report.memory->growth) : Number(),
                               "not measured"));
  const bool flooded = report.flood && report.flood->unsupported.empty();
  goals.push_back(goal_at_most("a neighbour's p99 beside a flood, by quiet", 1.5,
                               flooded ? quotient(report.flood->flooded.percentile(0.99),
                                                  report.flood->quiet.percentile(0.99))
                                       : Number(),
                               report.flood ? report.flood->unsupported : "not measured"));
  return goals;
}

}  // namespace bench
