#pragma once
// What was measured, as a table and as JSON.

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "bench/verify/parts.hpp"
#include "bench/verify/rows.hpp"

namespace bench {

// What was not asked for is absent.
struct Report {
  std::size_t problems = 0;
  int rounds = 0;
  std::vector<double> load{};  // of the host, before and after: the average of a minute
  std::string runtime{};       // of the parts beside the rows
  std::vector<Row> rows{};
  std::vector<QueuedRow> queue{};
  std::optional<Memory> memory{};
  std::optional<Flood> flood{};
};

struct Goal {
  std::string name;
  std::string wanted;
  std::string measured;  // "not measured", or why it could not be
  bool met = false;
  std::string if_cold{};  // the same of cold runs, beside a goal of warm ones
};
std::vector<Goal> goals_of(const Report& report);

void print_table(const Report& report);
nlohmann::ordered_json to_json(const Report& report);

}  // namespace bench
