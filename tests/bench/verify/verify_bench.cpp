// What a verdict costs, in one run. In parts:
//   rows     HumanEval's reference solutions with their tests, through POST /v1/verify warm and
//   cold
//            under STRICT, beside Python without protection and beside other sandboxes, at several
//            concurrencies. The contenders take turns, so that what else the host does hits all
//            alike. What is not here has a row that says so: competitors.sh installs others.
//   queue    requests of 1, 10, 100 ... items: does an item cost more in a long queue?
//   memory   the daemon's memory over many verifies
//   flood    a tenant's latency beside another's that has thousands of items waiting
//
// Compare what one run prints, not runs of different hosts or hours: it says the load beside.
//
// Usage: verify_bench [PART ...] [OPTIONS]; verify_bench --help

#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/real_daemon.hpp"
#include "bench/verify/cpu.hpp"
#include "bench/verify/report.hpp"

namespace bench {
namespace {

struct Options {
  std::vector<std::string> parts;
  std::string paddockd;
  std::string humaneval = VERIFY_BENCH_SOURCES "/../../rewards/humaneval/humaneval-even.jsonl";
  std::string competitors = VERIFY_BENCH_COMPETITORS;
  std::vector<int> concurrencies = {1, 2, 8, 64};
  int rounds = 5;
  std::size_t problems = 10'000;
  std::size_t queued = 10'000;
  std::size_t verifies = 100'000;
  std::string json;
  bool quick = false;
};

const std::vector<std::string> all_parts = {"rows", "queue", "memory", "flood"};

std::string beside_this_program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

void declare(CLI::App& app, Options& options) {
  constexpr std::size_t many = 10'000'000;
  app.add_option("PART", options.parts, "rows, queue, memory, flood; all if none is named")
      ->check(CLI::IsMember(all_parts));
  app.add_option("--paddockd", options.paddockd, "the one beside this program if left out");
  app.add_option("--humaneval", options.humaneval, "its problems, a JSON object in each line");
  app.add_option("--competitors", options.competitors, "where competitors.sh has put them");
  app.add_option("--concurrency", options.concurrencies, "such as 1,2,8,64")
      ->delimiter(',')
      ->check(CLI::Range(1, 64));
  app.add_option("--rounds", options.rounds, "of rows and flood")->check(CLI::Range(1, 1000));
  app.add_option("--problems", options.problems, "only the first ones")
      ->check(CLI::Range(std::size_t{1}, many));
  app.add_option("--queued", options.queued, "items of the longest queue")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}));
  app.add_option("--verifies", options.verifies, "of memory")
      ->check(CLI::Range(std::size_t{100}, many));
  app.add_flag("--quick", options.quick, "1,000 queued, 5,000 verifies, 2 rounds");
  app.add_option("--json", options.json,
                 "a file to write, or - for standard output, not the table");
}

double load_now() {
  double load = 0;
  if (::getloadavg(&load, 1) != 1) give_up("getloadavg");
  return load;
}

std::vector<Row> measure_rows_of(const Options& options, const std::vector<Problem>& problems) {
  const BenchDirectory directory;
  std::ofstream(directory.path() + "/config.toml");
  RealDaemon daemon(directory.path(), options.paddockd);
  daemon.start();
  std::vector<Contender> contenders;
  const std::string why = why_not_warm(daemon.socket(), problems);
  for (const Runtime runtime : {Runtime::warm, Runtime::warm_judged}) {
    contenders.push_back(paddock_contender(daemon, problems, runtime));
    if (!why.empty()) contenders.back().missing = "unsupported: " + why;
  }
  contenders.push_back(
      paddock_contender(daemon, problems, cold_runtime(daemon.socket(), problems)));
  const ContenderOptions others = {directory.path(), VERIFY_BENCH_SOURCES "/verify_worker.py",
                                   options.competitors};
  for (const auto& more :
       {python_contenders(others, problems), command_contenders(others, problems),
        server_contenders(others, problems)})
    contenders.insert(contenders.end(), more.begin(), more.end());
  return measure_rows(contenders, problems.size(),
                      {options.concurrencies, options.rounds, daemon.pid()});
}

std::string runtime_of_parts(const Options& options, const std::vector<Problem>& problems) {
  const BenchDirectory directory;
  std::ofstream(directory.path() + "/config.toml");
  RealDaemon daemon(directory.path(), options.paddockd);
  daemon.start();
  return name_of(best_runtime(daemon.socket(), problems));
}

Report measure(const Options& options) {
  const auto has = [&](const char* part) {
    return std::find(options.parts.begin(), options.parts.end(), part) != options.parts.end();
  };
  const std::vector<Problem> problems = read_problems(options.humaneval, options.problems);
  Report report{.problems = problems.size(), .rounds = options.rounds, .load = {load_now()}};
  report.runtime = runtime_of_parts(options, problems);
  if (has("rows")) report.rows = measure_rows_of(options, problems);
  if (has("queue")) report.queue = measure_queue(options.paddockd, problems, options.queued);
  if (has("memory")) report.memory = measure_memory(options.paddockd, problems, options.verifies);
  if (has("flood")) report.flood = measure_flood(options.paddockd, problems, options.rounds);
  report.load.push_back(load_now());
  return report;
}

void write(const Report& report, const std::string& json) {
  if (json == "-") {
    std::cout << to_json(report).dump(2) << "\n";
    return;
  }
  print_table(report);
  if (json.empty()) return;
  std::ofstream file(json);
  file << to_json(report).dump(2) << "\n";
  if (!file.flush()) give_up("cannot write " + json);
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app("What a verdict costs.");
  bench::declare(app, options);
  CLI11_PARSE(app, argc, argv);
  bench::adopt_orphans();
  return bench::exit_code_of([&] {
    if (options.parts.empty()) options.parts = bench::all_parts;
    if (options.paddockd.empty()) options.paddockd = bench::beside_this_program("paddockd");
    if (options.quick) {
      options.queued = std::min<std::size_t>(options.queued, 1000);
      options.verifies = std::min<std::size_t>(options.verifies, 5000);
      options.rounds = std::min(options.rounds, 2);
    }
    bench::write(bench::measure(options), options.json);
  });
}
