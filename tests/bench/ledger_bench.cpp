// The ledger in one run, on the disk of the given directory:
//   1. transitions a second, by how many share a commit, with sync full and normal;
//   2. transitions a second through the loop, as a daemon has them, and how long one takes;
//   3. with 1,000,000 runs in it: the time to open it, to find what is unfinished, to prune a step,
//   and to verify all of it (goal: open under 1 s).
//
// Usage: ledger_bench DIRECTORY [RUNS]

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "supervisor/ledger/ledger.hpp"
#include "supervisor/ledger/verify.hpp"
#include "supervisor/loop/event_loop.hpp"

namespace {

using namespace paddock::supervisor;
using Clock = std::chrono::steady_clock;

constexpr int default_runs = 1'000'000;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "ledger_bench: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T must(paddock::kernel::Result<T> result) {
  if (!result) give_up(result.error().message);
  return std::move(*result);
}

template <class Work>
double seconds_of(Work work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// As large as a daemon's.
Transition transition(int number, const std::string& state) {
  Transition made;
  RunRow row;
  row.id = "r-" + std::to_string(0x1000000000000000ull +
                                 0x9e3779b97f4a7c15ull * static_cast<unsigned>(number));
  row.state = state;
  row.tenant = "tenant-" + std::to_string(number % 16);
  row.profile = "STRICT";
  row.policy_hash = std::string(63, 'a') + std::to_string(number % 8);
  row.created_us = 1'700'000'000'000'000 + number;
  row.launcher = paddock::kernel::ProcessMark{
      .pid = number, .start_ticks = 1, .boot_id = std::string(36, 'b')};
  made.event = {.kind = "run." + state,
                .subject = row.id,
                .tenant = row.tenant,
                .body = R"({"argv":["python3","-c",")" + std::string(400, 'x') + R"("]})",
                .at = std::chrono::system_clock::now()};
  made.policy = PolicyRow{.hash = row.policy_hash, .text = std::string(3000, 'p')};
  made.run = std::move(row);
  return made;
}

std::vector<Transition> some(int first, int count, const std::string& state) {
  std::vector<Transition> made;
  for (int i = first; i < first + count; ++i) made.push_back(transition(i, state));
  return made;
}

class Place {
 public:
  explicit Place(const std::string& parent) : directory_(parent + "/ledger-bench") {
    std::filesystem::create_directory(directory_);
  }
  ~Place() { std::filesystem::remove_all(directory_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::string path() const { return directory_ + "/ledger.db"; }

 private:
  std::string directory_;
};

const char* name_of(LedgerSync sync) {
  return sync == LedgerSync::full ? "full" : "normal";
}

void bench_groups(const std::string& parent) {
  std::printf("%-8s %8s %14s %12s\n", "sync", "group", "transitions/s", "commits/s");
  for (const LedgerSync sync : {LedgerSync::full, LedgerSync::normal}) {
    for (const int group : {1, 4, 16, 64, 256, 1024}) {
      const Place place(parent);
      LedgerWriter writer = must(LedgerWriter::open(place.path(), sync));
      const int commits = std::max(8, std::min(500, 8192 / group));
      std::vector<std::vector<Transition>> groups;
      for (int i = 0; i < commits; ++i) groups.push_back(some(i * group, group, "starting"));
      const double seconds = seconds_of([&] {
        for (const auto& one : groups) must(writer.apply(one));
      });
      std::printf("%-8s %8d %14.0f %12.0f\n", name_of(sync), group, commits * group / seconds,
                  commits / seconds);
    }
  }
}

// `at_once` clients, each with the next transition when the one before is answered.
void bench_loop(const std::string& parent, LedgerSync sync, int at_once) {
  constexpr int transitions = 20'000;
  const Place place(parent);
  const auto loop = must(EventLoop::create());
  const auto ledger = must(
      Ledger::start(loop->get(), place.path(), must(LedgerWriter::open(place.path(), sync)), {}));
  bench::Samples waits;
  int started = 0;
  std::function<void()> next = [&] {
    if (started == transitions) return;
    const auto begin = Clock::now();
    ledger->commit(
        transition(++started, "starting"), IfUnwritten::refuse,
        [&, begin](paddock::kernel::Result<std::uint64_t> seq) {
          must(std::move(seq));
          waits.add(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
          next();
        });
  };
  const double seconds = seconds_of([&] {
    for (int i = 0; i < at_once; ++i) next();
    loop->run();
  });
  std::printf("%-8s %4d at once: %8.0f transitions/s; ", name_of(sync), at_once,
              transitions / seconds);
  bench::print("commit to answer", waits);
}

void bench_many(const std::string& parent, int runs) {
  constexpr int group = 1000;
  const Place place(parent);
  {
    LedgerWriter writer = must(LedgerWriter::open(place.path(), LedgerSync::normal));
    const double seconds = seconds_of([&] {
      for (int first = 0; first < runs; first += group)
        must(writer.apply(some(first, group, first + group < runs ? "finished" : "running")));
    });
    std::printf("%d runs, one event each, written in %.1f s: %.0f MiB\n", runs, seconds,
                static_cast<double>(std::filesystem::file_size(place.path())) / (1 << 20));
  }
  std::optional<LedgerWriter> writer;
  std::printf("open: %.3f s\n", seconds_of([&] {
                writer.emplace(must(LedgerWriter::open(place.path(), LedgerSync::full)));
              }));
  LedgerReader reader = must(LedgerReader::open(place.path()));
  std::size_t unfinished = 0;
  std::printf("unfinished runs: %.3f s",
              seconds_of([&] { unfinished = must(reader.unfinished_runs()).size(); }));
  std::printf(" for %zu of them\n", unfinished);
  std::printf("last 1000 runs of a tenant: %.3f s\n", seconds_of([&] {
                RunFilter filter;
                filter.tenant = "tenant-3";
                must(reader.runs(filter));
              }));
  std::printf("verify: %.1f s\n", seconds_of([&] {
                if (must(verify_ledger(place.path(), std::nullopt)).edit) give_up("not whole");
              }));
  bench::Samples steps;
  for (int i = 0; i < 20; ++i)
    steps.time([&] {
      must(writer->prune({.keep = std::chrono::hours(1), .keep_bytes = 1},
                         std::chrono::system_clock::now()));
    });
  bench::print("prune 1000 events", steps);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) give_up("usage: ledger_bench DIRECTORY [RUNS]");
  bench_groups(argv[1]);
  for (const LedgerSync sync : {LedgerSync::full, LedgerSync::normal})
    for (const int at_once : {1, 32, 512}) bench_loop(argv[1], sync, at_once);
  bench_many(argv[1], argc == 3 ? std::atoi(argv[2]) : default_runs);
}
