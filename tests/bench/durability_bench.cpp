// What durability costs, in one run, in a directory of its own below /var/tmp:
//   recording  the CPU time and latency that the ledger adds to a run of `true` under OFF, and runs
//              per second with it and without, one, 8 and 64 at once;
//   agents     the daemon's memory with no and with 500 long-running agents, and how long it takes
//              until nothing is left of them after a SIGKILL;
//   restart    a daemon's start on a ledger of a million rows (goal: under 1 s from exec to the
//              first answer), and a step of pruning it (goal: under 50 ms).
//
// Compare what one run prints, not runs of different hosts or hours: it says the load beside.
//
// Usage: durability_bench PROGRAMS_DIRECTORY PROFILES_DIRECTORY [PART ...] [--json]
//                         [--runs N] [--agents N] [--rows N]

#include <algorithm>
#include <filesystem>

#include "bench/durability_bench.hpp"
#include "bench/real_daemon.hpp"

namespace bench {

namespace {

using Words = std::vector<std::string>;

int take_number(Words& words, const std::string& option, int if_absent) {
  const auto at = std::find(words.begin(), words.end(), option);
  if (at == words.end()) return if_absent;
  const int number = at + 1 == words.end() ? 0 : std::atoi((at + 1)->c_str());
  if (number <= 0) give_up(option + " needs a number above 0");
  words.erase(at, at + 2);
  return number;
}

double load_now() {
  double load = 0;
  if (::getloadavg(&load, 1) != 1) give_up("getloadavg");
  return load;
}

void print_table(const Measures& measures) {
  for (const Measure& measure : measures)
    std::printf("%-44s %12.3f\n", measure.name.c_str(), measure.value);
}

void print_json(const Measures& measures) {
  std::printf("{");
  for (const Measure& measure : measures)
    std::printf("%s\"%s\": %.3f", &measure == &measures.front() ? "" : ", ", measure.name.c_str(),
                measure.value);
  std::printf("}\n");
}

void run_parts(Words words) {
  const bool json = std::erase(words, "--json") > 0;
  DurabilityOptions options;
  options.runs = take_number(words, "--runs", options.runs);
  options.agents = take_number(words, "--agents", options.agents);
  options.rows = take_number(words, "--rows", options.rows);
  if (words.size() < 2) give_up("needs the directories of the programs and of the profiles");
  options.programs = words[0];
  options.profiles = words[1];
  const Words parts(words.begin() + 2, words.end());
  for (const std::string& part : parts)
    if (part != "recording" && part != "agents" && part != "restart")
      give_up("no part '" + part + "': recording, agents, restart");
  const auto wanted = [&](const char* part) {
    return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
  };

  Measures measures = {{"load_before", load_now()}};
  if (wanted("recording")) measure_recording(options, measures);
  if (wanted("agents")) measure_agents(options, measures);
  if (wanted("restart")) measure_restart(options, measures);
  measures.push_back({"load_after", load_now()});
  if (json)
    print_json(measures);
  else
    print_table(measures);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::exit_code_of([&] { bench::run_parts({argv + 1, argv + argc}); });
}
