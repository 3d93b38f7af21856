#include "bench/verify/rows.hpp"

#include <atomic>
#include <barrier>
#include <exception>
#include <mutex>

#include "bench/verify/cpu.hpp"
#include "kernel/base/process_tree.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using Workers = std::vector<std::unique_ptr<Worker>>;

struct CpuUse {
  std::uint64_t judging_us = 0;
  std::uint64_t paddockd_us = 0;
  std::uint64_t client_us = 0;
};

CpuUse cpu_use(const Contender& contender, const Workers& workers, pid_t paddockd) {
  CpuUse use{contender.cpu_us ? contender.cpu_us() : 0, own_cpu_us(paddockd), client_cpu_us()};
  for (const auto& worker : workers) use.judging_us += worker->cpu_us();
  return use;
}

// What the threads of one turn share.
struct Turn {
  std::size_t verifies = 0;
  std::size_t problems = 0;
  std::atomic<std::size_t> next{0};
  std::mutex mutex{};
  std::exception_ptr failure{};

  void work(Worker& worker, Row& row) {
    std::vector<double> taken;
    std::size_t wrong = 0;
    std::string why;
    for (std::size_t i = next++; i < verifies; i = next++) {
      const auto begin = Clock::now();
      const bool right = worker.judge(i % problems);
      taken.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
      if (!right && wrong++ == 0) why = worker.why();
    }
    const std::lock_guard lock(mutex);
    for (const double ms : taken) row.latency.add(ms);
    if (wrong > 0 && row.wrong == 0)
      std::fprintf(stderr, "%s was not found right: %s\n", row.name.c_str(), why.c_str());
    row.wrong += wrong;
    row.ran_cold += worker.ran_cold();
  }
};

}  // namespace

double Row::per_second() const {
  return static_cast<double>(latency.size()) / seconds;
}

double Row::ms_each(std::uint64_t us) const {
  return static_cast<double>(us) / 1000 / static_cast<double>(latency.size());
}

void judge_all(const Contender& contender, int concurrency, std::size_t verifies,
               std::size_t problems, pid_t paddockd, Row& row) {
  Workers workers;
  for (int slot = 0; slot < concurrency; ++slot) workers.push_back(contender.worker(slot));
  Turn turn{.verifies = verifies, .problems = problems};
  std::barrier line(concurrency + 1);
  std::vector<std::thread> threads;
  for (const auto& worker : workers)
    threads.emplace_back([&, one = worker.get()] {
      line.arrive_and_wait();
      try {
        turn.work(*one, row);
      } catch (...) {
        const std::lock_guard lock(turn.mutex);
        turn.failure = std::current_exception();
      }
    });
  const std::vector<pid_t> children = paddock::kernel::children_of(::getpid());
  const CpuUse before = cpu_use(contender, workers, paddockd);
  const auto begin = Clock::now();
  line.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  row.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  reap_children_except(children);
  const CpuUse after = cpu_use(contender, workers, paddockd);
  row.cpu_us += used_between(before.judging_us, after.judging_us);
  row.paddockd_us += used_between(before.paddockd_us, after.paddockd_us);
  row.client_us += used_between(before.client_us, after.client_us);
  if (turn.failure) std::rethrow_exception(turn.failure);
}

std::vector<Row> measure_rows(const std::vector<Contender>& contenders, std::size_t problems,
                              const RowOptions& options) {
  std::vector<Row> rows;
  for (const int concurrency : options.concurrencies) {
    const std::size_t first = rows.size();
    for (const Contender& contender : contenders)
      rows.push_back({contender.name, concurrency, contender.missing});
    for (int round = 0; round < options.rounds; ++round) {
      std::fprintf(stderr, "rows: %d at a time, round %d of %d\n", concurrency, round + 1,
                   options.rounds);
      for (std::size_t i = 0; i < contenders.size(); ++i)
        if (contenders[i].missing.empty())
          judge_all(contenders[i], concurrency, problems, problems, options.paddockd,
                    rows[first + i]);
    }
  }
  return rows;
}

}  // namespace bench
