#include <fstream>
#include <set>

#include "bench/real_daemon.hpp"
#include "bench/verify/contender.hpp"
#include "bench/verify/cpu.hpp"
#include "bench/verify/parts.hpp"
#include "bench/verify/rows.hpp"

namespace bench {
namespace {

constexpr int connections = 8;
constexpr std::size_t points_between = 50;

// Each power of ten, and evenly between.
std::set<std::size_t> checkpoints(std::size_t verifies) {
  std::set<std::size_t> all = {verifies};
  for (std::size_t decade = 1; decade < verifies; decade *= 10) all.insert(decade);
  for (std::size_t i = 1; i < points_between; ++i)
    if (const std::size_t at = verifies * i / points_between; at > 0) all.insert(at);
  return all;
}

double slope(const std::vector<MemoryPoint>& points) {
  double count = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (const MemoryPoint& point : points) {
    const auto at = static_cast<double>(point.verifies);
    const auto bytes = static_cast<double>(point.resident_bytes);
    count += 1;
    x += at;
    y += bytes;
    xx += at * at;
    xy += at * bytes;
  }
  const double spread = count * xx - x * x;
  return spread > 0 ? (count * xy - x * y) / spread : 0;
}

}  // namespace

Memory measure_memory(const std::string& paddockd, const std::vector<Problem>& problems,
                      std::size_t verifies) {
  const BenchDirectory directory;
  std::ofstream(directory.path() + "/config.toml");
  RealDaemon daemon(directory.path(), paddockd);
  daemon.start();
  const Contender contender =
      paddock_contender(daemon, problems, best_runtime(daemon.socket(), problems));
  Memory memory;
  Row row{.name = contender.name};
  std::size_t done = 0;
  for (const std::size_t at : checkpoints(verifies)) {
    std::fprintf(stderr, "memory: up to %zu of %zu verifies\n", at, verifies);
    const auto workers = static_cast<int>(std::min<std::size_t>(connections, at - done));
    judge_all(contender, workers, at - done, problems.size(), daemon.pid(), row);
    done = at;
    memory.points.push_back({done, resident_bytes(daemon.pid())});
  }
  memory.wrong = row.wrong;
  std::vector<MemoryPoint> settled;
  for (const MemoryPoint& point : memory.points)
    if (point.verifies * 10 >= verifies) settled.push_back(point);
  memory.slope_bytes_each = slope(settled);
  memory.growth = static_cast<double>(settled.back().resident_bytes) /
                  static_cast<double>(settled.front().resident_bytes);
  return memory;
}

}  // namespace bench
