// A daemon's start on a ledger with many rows beside its start on an empty one, and what a step of
// pruning that ledger costs.

#include <filesystem>
#include <fstream>
#include <thread>

#include "bench/bench.hpp"
#include "bench/durability_bench.hpp"
#include "bench/real_daemon.hpp"
#include "supervisor/ledger/ledger_writer.hpp"

namespace bench {
namespace {

using namespace paddock::supervisor;
using Steady = std::chrono::steady_clock;

constexpr int starts = 5;
constexpr int group = 1000;
constexpr int policies = 50;
constexpr int prune_steps = 20;

// As large as a daemon's; each run has been recorded once, at its end.
Transition finished_run(int number) {
  const std::string digits = std::to_string(1'000'000'000 + number % policies);
  RunRow row;
  char id[32];
  std::snprintf(id, sizeof id, "r-%016llx",
                0x9e3779b97f4a7c15ull * static_cast<unsigned long long>(number + 1));
  row.id = id;
  row.state = "finished";
  row.tenant = "tenant-" + std::to_string(number % 16);
  row.profile = "STRICT";
  row.policy_hash = std::string(54, 'a') + digits;
  row.cause = "exited";
  row.created_us = 1'700'000'000'000'000 + number;
  row.launcher = paddock::kernel::ProcessMark{
      .pid = number, .start_ticks = 1, .boot_id = std::string(36, 'b')};
  Transition made;
  made.event = {.kind = "run.finished",
                .subject = row.id,
                .tenant = row.tenant,
                .body = "{\"stdout_tail\":\"" + std::string(400, 'x') + "\"}",
                .at = std::chrono::system_clock::now()};
  made.policy = PolicyRow{.hash = row.policy_hash, .text = std::string(3000, 'p')};
  made.run = std::move(row);
  return made;
}

void fill(const std::string& path, int rows) {
  auto writer = LedgerWriter::open(path, LedgerSync::normal);
  if (!writer) give_up(writer.error().message);
  for (int first = 0; first < rows; first += group) {
    std::vector<Transition> transitions;
    for (int i = first; i < std::min(first + group, rows); ++i)
      transitions.push_back(finished_run(i));
    if (const auto written = writer->apply(transitions); !written) give_up(written.error().message);
  }
}

// From exec to the first answer.
Samples measure_starts(const std::string& base, const std::string& program) {
  RealDaemon daemon(base, program);
  std::ofstream(base + "/config.toml") << "\n";
  Samples samples;
  for (int i = 0; i < starts; ++i) {
    samples.time([&] { daemon.start(); });
    daemon.stop();
  }
  return samples;
}

}  // namespace

void measure_restart(const DurabilityOptions& options, Measures& measures) {
  const std::string program = options.programs + "/paddockd";
  const BenchDirectory empty;
  const BenchDirectory full;
  const std::string ledger = full.path() + "/state/ledger.db";
  std::filesystem::create_directory(full.path() + "/state");
  std::filesystem::permissions(full.path() + "/state", std::filesystem::perms::owner_all);
  fill(ledger, options.rows);
  measures.push_back(
      {"ledger_mib", static_cast<double>(std::filesystem::file_size(ledger)) / (1 << 20)});
  measures.push_back(
      {"restart_empty_ledger_p50_ms", measure_starts(empty.path(), program).percentile(0.5)});
  const Samples restarts = measure_starts(full.path(), program);
  const std::string name = "restart_" + std::to_string(options.rows) + "_rows_";
  measures.push_back({name + "p50_ms", restarts.percentile(0.5)});
  measures.push_back({name + "max_ms", restarts.percentile(1)});

  auto writer = LedgerWriter::open(ledger, LedgerSync::full);
  if (!writer) give_up(writer.error().message);
  Samples steps;
  std::size_t events = 0;
  for (int i = 0; i < prune_steps; ++i) {
    steps.time([&] {
      const auto pruned = writer->prune({.keep = std::chrono::hours(1), .keep_bytes = 1},
                                        std::chrono::system_clock::now());
      if (!pruned) give_up(pruned.error().message);
      events += *pruned;
    });
  }
  measures.push_back({"prune_step_events", static_cast<double>(events) / prune_steps});
  measures.push_back({"prune_step_p50_ms", steps.percentile(0.5)});
  measures.push_back({"prune_step_max_ms", steps.percentile(1)});
}

}  // namespace bench
