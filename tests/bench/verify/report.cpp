#include "bench/verify/report.hpp"

#include <sys/utsname.h>

#include <nlohmann/json.hpp>
#include <thread>

namespace bench {
namespace {

using nlohmann::ordered_json;

constexpr double mebibyte = 1 << 20;

double rounded(double number) {
  return static_cast<double>(static_cast<long long>(number * 1000 + 0.5)) / 1000;
}

void print_row(const Row& row) {
  if (!row.missing.empty()) {
    std::printf("%-32s %4d  %s\n", row.name.c_str(), row.concurrency, row.missing.c_str());
    return;
  }
  std::printf("%-32s %4d %9.2f %9.2f %9.1f %9.2f %9.2f %9.3f %6zu\n", row.name.c_str(),
              row.concurrency, row.latency.percentile(0.5), row.latency.percentile(0.99),
              row.per_second(), row.ms_each(row.cpu_us), row.ms_each(row.paddockd_us),
              row.ms_each(row.client_us), row.wrong);
  if (row.ran_cold > 0) std::printf("%37s%zu of these ran cold\n", "", row.ran_cold);
}

void print_rows(const Report& report) {
  std::printf(
      "%zu problems, %d rounds. CPU per verify: of all that judges; of paddockd itself;"
      " of this client.\n",
      report.problems, report.rounds);
  int concurrency = 0;
  for (const Row& row : report.rows) {
    if (row.concurrency != concurrency)
      std::printf("\n%-32s %4s %9s %9s %9s %9s %9s %9s %6s\n", "", "at", "p50 ms", "p99 ms",
                  "verify/s", "CPU ms", "paddockd", "client", "wrong");
    concurrency = row.concurrency;
    print_row(row);
  }
}

void print_queue(const Report& report) {
  std::printf("\n%-32s %9s %9s %9s %9s %6s\n", ("items queued, " + report.runtime).c_str(),
              "verifies", "ms each", "CPU ms", "paddockd", "wrong");
  for (const QueuedRow& row : report.queue)
    std::printf("%-32zu %9zu %9.2f %9.2f %9.2f %6zu\n", row.items, row.verifies,
                row.seconds * 1000 / static_cast<double>(row.verifies), row.ms_each(row.cpu_us),
                row.ms_each(row.paddockd_us), row.wrong);
}

bool is_decade(std::size_t number) {
  while (number % 10 == 0) number /= 10;
  return number == 1;
}

void print_memory(const Report& report) {
  std::printf("\n%-32s %9s\n", ("paddockd's memory, " + report.runtime).c_str(), "MiB");
  const auto& points = report.memory->points;
  for (const MemoryPoint& point : points)
    if (is_decade(point.verifies) || &point == &points.back())
      std::printf("after %-26zu %9.2f\n", point.verifies,
                  static_cast<double>(point.resident_bytes) / mebibyte);
  std::printf("slope after the first tenth: %.1f bytes a verify; %zu wrong\n",
              report.memory->slope_bytes_each, report.memory->wrong);
}

void print_flood(const Report& report) {
  const Flood& flood = *report.flood;
  std::printf("\na neighbour of a flood, %s\n", report.runtime.c_str());
  if (!flood.unsupported.empty()) {
    std::printf("unsupported: %s\n", flood.unsupported.c_str());
    return;
  }
  print("beside nobody", flood.quiet);
  print("beside the flood", flood.flooded);
  std::printf("%zu wrong\n", flood.wrong);
}

ordered_json row_json(const Row& row) {
  ordered_json object = {{"name", row.name}, {"concurrency", row.concurrency}};
  if (!row.missing.empty()) {
    object["missing"] = row.missing;
    return object;
  }
  object["verifies"] = row.latency.size();
  object["wrong"] = row.wrong;
  object["ran_cold"] = row.ran_cold;
  object["p50_ms"] = rounded(row.latency.percentile(0.5));
  object["p99_ms"] = rounded(row.latency.percentile(0.99));
  object["verifies_per_s"] = rounded(row.per_second());
  object["cpu_ms"] = rounded(row.ms_each(row.cpu_us));
  object["paddockd_cpu_ms"] = rounded(row.ms_each(row.paddockd_us));
  object["client_cpu_ms"] = rounded(row.ms_each(row.client_us));
  return object;
}

ordered_json queue_json(const std::vector<QueuedRow>& queue) {
  ordered_json rows = ordered_json::array();
  for (const QueuedRow& row : queue)
    rows.push_back({{"items", row.items},
                    {"verifies", row.verifies},
                    {"wrong", row.wrong},
                    {"wall_ms", rounded(row.seconds * 1000 / static_cast<double>(row.verifies))},
                    {"cpu_ms", rounded(row.ms_each(row.cpu_us))},
                    {"paddockd_cpu_ms", rounded(row.ms_each(row.paddockd_us))}});
  return rows;
}

ordered_json memory_json(const Memory& memory) {
  ordered_json points = ordered_json::array();
  for (const MemoryPoint& point : memory.points)
    points.push_back({{"verifies", point.verifies}, {"resident_bytes", point.resident_bytes}});
  return {{"points", points},
          {"wrong", memory.wrong},
          {"slope_bytes_each", rounded(memory.slope_bytes_each)},
          {"growth", rounded(memory.growth)}};
}

ordered_json flood_json(const Flood& flood) {
  if (!flood.unsupported.empty()) return {{"unsupported", flood.unsupported}};
  const auto side = [](const Samples& samples) {
    return ordered_json{{"verifies", samples.size()},
                        {"p50_ms", rounded(samples.percentile(0.5))},
                        {"p99_ms", rounded(samples.percentile(0.99))}};
  };
  return {{"quiet", side(flood.quiet)}, {"flooded", side(flood.flooded)}, {"wrong", flood.wrong}};
}

}  // namespace

void print_table(const Report& report) {
  utsname host{};
  ::uname(&host);
  std::printf("%u processors, kernel %s, load %.2f before and %.2f after\n",
              std::thread::hardware_concurrency(), host.release, report.load.front(),
              report.load.back());
  if (!report.rows.empty()) print_rows(report);
  if (!report.queue.empty()) print_queue(report);
  if (report.memory) print_memory(report);
  if (report.flood) print_flood(report);
  std::printf("\n%-52s %-8s %-3s %10s  %s\n", "goal, of warm runs", "wanted", "met", "(cold)",
              "measured");
  for (const Goal& goal : goals_of(report))
    std::printf("%-52s %-8s %-3s %10s  %s\n", goal.name.c_str(), goal.wanted.c_str(),
                goal.met ? "yes" : "no", goal.if_cold.c_str(), goal.measured.c_str());
}

nlohmann::ordered_json to_json(const Report& report) {
  utsname host{};
  ::uname(&host);
  ordered_json object = {{"processors", std::thread::hardware_concurrency()},
                         {"kernel", host.release},
                         {"load", report.load},
                         {"problems", report.problems},
                         {"rounds", report.rounds},
                         {"runtime", report.runtime}};
  object["rows"] = ordered_json::array();
  for (const Row& row : report.rows) object["rows"].push_back(row_json(row));
  if (!report.queue.empty()) object["queue"] = queue_json(report.queue);
  if (report.memory) object["memory"] = memory_json(*report.memory);
  if (report.flood) object["flood"] = flood_json(*report.flood);
  object["goals"] = ordered_json::array();
  for (const Goal& goal : goals_of(report))
    object["goals"].push_back({{"goal", goal.name},
                               {"wanted", goal.wanted},
                               {"measured", goal.measured},
                               {"met", goal.met},
                               {"cold", goal.if_cold}});
  return object;
}

}  // namespace bench
