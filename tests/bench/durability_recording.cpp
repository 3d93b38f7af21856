// The CPU time, the latency and the runs per second that recording costs: a RunTable with a real
// sandbox runs `true` under OFF, in turns with each recorder, so that all have the same host.

#include <sys/resource.h>

#include <array>
#include <deque>
#include <memory>

#include "bench/bench.hpp"
#include "bench/durability_bench.hpp"
#include "bench/real_daemon.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/run/strays.hpp"
#include "supervisor/ledger/ledger.hpp"
#include "supervisor/loop/event_loop.hpp"
#include "supervisor/runs/run_table.hpp"

namespace bench {
namespace {

using namespace paddock;
using namespace paddock::supervisor;
using Steady = std::chrono::steady_clock;

constexpr int rounds = 6;
constexpr std::array at_once_all = {1, 8, 64};

template <class T>
T must(kernel::Result<T> result) {
  if (!result) give_up(result.error().message);
  return std::move(*result);
}

// Answers on the next turn of the loop, as the contract says, and forgets.
class NoRecorder final : public Recorder {
 public:
  explicit NoRecorder(uv_loop_t* loop) : timer_(loop) {}

  void commit(Transition, IfUnwritten, OnCommitted on_committed) override {
    if (on_committed) waiting_.push_back(std::move(on_committed));
    if (!timer_.is_running()) timer_.start(std::chrono::milliseconds(0), [this] { answer(); });
  }
  bool is_writing() const override { return true; }

 private:
  void answer() {
    for (const OnCommitted& on_committed : std::exchange(waiting_, {})) on_committed(++seq_);
  }

  Timer timer_;
  std::deque<OnCommitted> waiting_;
  std::uint64_t seq_ = 0;
};

double own_cpu_ms() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

ResolvedRun true_under_off(const std::string& profiles) {
  const kernel::LoadResult loaded = kernel::load_catalog({profiles}, {});
  const auto off = loaded.catalog.profiles.find("OFF");
  if (off == loaded.catalog.profiles.end()) give_up("no profile OFF in " + profiles);
  kernel::Request request;
  request.argv = {"/bin/true"};
  ResolvedRun run;
  run.policy = must(kernel::resolve(off->second, request));
  run.argv = request.argv;
  return run;
}

struct Numbers {
  Samples latency{};
  double seconds = 0;
  double cpu_ms = 0;
  int runs = 0;
};

// `count` runs, `at_once` of them at any time, each followed by the next one.
void run_some(uv_loop_t* loop, RunTable& table, const ResolvedRun& run, int count, int at_once,
              Numbers& numbers) {
  int started = 0;
  int finished = 0;
  std::function<void()> next = [&] {
    if (started == count) return;
    ++started;
    const auto begin = Steady::now();
    RunObserver observer{};
    observer.on_finished = [&, begin](const RunRecord& record) {
      if (record.result->cause != kernel::Cause::exited) give_up(record.result->detail);
      numbers.latency.add(std::chrono::duration<double, std::milli>(Steady::now() - begin).count());
      ++finished;
      next();
    };
    must(table.submit(ResolvedRun(run), std::move(observer)));
  };
  const double cpu_before = own_cpu_ms();
  const auto begin = Steady::now();
  for (int i = 0; i < at_once; ++i) next();
  while (finished < count) uv_run(loop, UV_RUN_ONCE);
  numbers.seconds += std::chrono::duration<double>(Steady::now() - begin).count();
  numbers.cpu_ms += own_cpu_ms() - cpu_before;
  numbers.runs += count;
}

// One recorder with its table.
struct Way {
  std::string name;
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<RunTable> table{};
  std::map<int, Numbers> by_concurrency{};
};

std::unique_ptr<Recorder> ledger(uv_loop_t* loop, const std::string& path, LedgerSync sync) {
  return must(Ledger::start(loop, path, must(LedgerWriter::open(path, sync)), {}));
}

}  // namespace

void measure_recording(const DurabilityOptions& options, Measures& measures) {
  const BenchDirectory directory;
  kernel::become_subreaper();
  const auto loop = must(EventLoop::create());
  const kernel::Sandbox sandbox = must(kernel::Sandbox::open({}));
  const ResolvedRun run = true_under_off(options.profiles);
  std::vector<Way> ways;
  ways.push_back({"none", std::make_unique<NoRecorder>(loop->get())});
  ways.push_back(
      {"normal", ledger(loop->get(), directory.path() + "/normal.db", LedgerSync::normal)});
  ways.push_back({"full", ledger(loop->get(), directory.path() + "/full.db", LedgerSync::full)});

  for (int round = 0; round < rounds; ++round) {
    for (Way& way : ways) {
      // One table at a time: each looks after all children of this process.
      way.table = std::make_unique<RunTable>(loop->get(), sandbox, *way.recorder, RunTableLimits{});
      for (const int at_once : at_once_all)
        run_some(loop->get(), *way.table, run, std::max(options.runs / rounds, at_once), at_once,
                 way.by_concurrency[at_once]);
      way.table.reset();
    }
  }
  for (const int at_once : at_once_all) {
    for (const Way& way : ways) {
      const Numbers& numbers = way.by_concurrency.at(at_once);
      const std::string name = "recording_" + way.name + "_at_once_" + std::to_string(at_once);
      measures.push_back({name + "_runs_per_s", numbers.runs / numbers.seconds});
      measures.push_back({name + "_cpu_ms_per_run", numbers.cpu_ms / numbers.runs});
      measures.push_back({name + "_p50_ms", numbers.latency.percentile(0.5)});
      measures.push_back({name + "_p99_ms", numbers.latency.percentile(0.99)});
    }
  }
}

}  // namespace bench
