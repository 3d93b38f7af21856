#include <fstream>

#include "bench/real_daemon.hpp"
#include "bench/verify/contender.hpp"
#include "bench/verify/cpu.hpp"
#include "bench/verify/parts.hpp"

namespace bench {
namespace {

// Small ones often enough that each size has seen each problem.
std::size_t requests_of(std::size_t items, std::size_t problems) {
  return items >= problems ? 1 : (problems + items - 1) / items;
}

QueuedRow measure_size(const RealDaemon& daemon, const std::vector<Problem>& problems,
                       Runtime runtime, std::size_t items) {
  QueuedRow row{.items = items};
  Client client(daemon.socket());
  const std::size_t requests = requests_of(items, problems.size());
  const std::uint64_t tree_before_us = tree_cpu_us(daemon.pid());
  const std::uint64_t own_before_us = own_cpu_us(daemon.pid());
  for (std::size_t i = 0; i < requests; ++i) {
    const std::string request = verify_request(problems, i * items, items, runtime);
    Samples taken;
    std::string answer;
    taken.time([&] { answer = client.call("POST", "/v1/verify", request); });
    if (!answer.starts_with("HTTP/1.1 200")) give_up(answer.substr(0, 1000));
    row.seconds += taken.percentile(0) / 1000;
    row.verifies += items;
    row.wrong += not_passed(answer, items);
  }
  row.cpu_us = used_between(tree_before_us, tree_cpu_us(daemon.pid()));
  row.paddockd_us = used_between(own_before_us, own_cpu_us(daemon.pid()));
  return row;
}

}  // namespace

std::vector<QueuedRow> measure_queue(const std::string& paddockd,
                                     const std::vector<Problem>& problems, std::size_t items_max) {
  const BenchDirectory directory;
  std::ofstream(directory.path() + "/config.toml");
  RealDaemon daemon(directory.path(), paddockd);
  daemon.start();
  const Runtime runtime = best_runtime(daemon.socket(), problems);
  std::vector<QueuedRow> rows;
  for (std::size_t items = 1; items <= items_max; items *= 10) {
    std::fprintf(stderr, "queue: %zu items\n", items);
    rows.push_back(measure_size(daemon, problems, runtime, items));
  }
  return rows;
}

}  // namespace bench
