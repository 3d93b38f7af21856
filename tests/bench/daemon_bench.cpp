// The daemon under load, in one run:
//   1. POST /v1/runs of `true` under OFF, beside posix_spawn of the same program;
//   2. 200 concurrent sleepers: the daemon's memory, and how long it takes to kill them all;
//   3. 100 concurrent runs with the same wall clock: how exactly it strikes (goal: p99 within 20
//   ms).
//
// Usage: daemon_bench PATH_OF_PADDOCKD

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench.hpp"
#include "bench/real_daemon.hpp"

namespace {

using namespace std::chrono_literals;
using bench::Client;
using bench::give_up;
using bench::number_after;
using bench::start;

std::string id_of(const std::string& answer) {
  const std::size_t at = answer.find("\"id\":\"r-");
  if (at == std::string::npos) give_up("no run: " + answer);
  return answer.substr(at + 6, 18);
}

double rss_mib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

void bench_off(Client& client) {
  bench::Samples spawned;
  bench::Samples posted;
  for (int round = 0; round < 300; ++round) {
    spawned.time([] { ::waitpid(start({"/bin/true"}), nullptr, 0); });
    posted.time([&] {
      const std::string answer =
          client.call("POST", "/v1/runs", R"({"profile":"OFF","argv":["/bin/true"]})");
      if (answer.find("\"exit_code\":0") == std::string::npos) give_up(answer);
    });
  }
  bench::print_pair("posix_spawn true", spawned, "POST /v1/runs OFF true", posted);
}

void wait_for_alive(Client& client, double count) {
  for (int i = 0; i < 6000; ++i) {
    const std::string health = client.call("GET", "/health");
    if (number_after(health, "\"runs_alive\":") + number_after(health, "\"runs_queued\":") == 0 &&
        count == 0)
      return;
    if (count > 0 && number_after(health, "\"runs_alive\":") == count) return;
    std::this_thread::sleep_for(5ms);
  }
  give_up("the runs do not come to the expected number");
}

void bench_sleepers(Client& client, pid_t daemon) {
  constexpr int sleepers = 200;
  const double before = rss_mib(daemon);
  std::vector<std::string> ids;
  for (int i = 0; i < sleepers; ++i)
    ids.push_back(id_of(client.call(
        "POST", "/v1/runs", R"({"profile":"STRICT","argv":["sleep","600"],"detach":true})")));
  wait_for_alive(client, sleepers);
  std::this_thread::sleep_for(1s);
  std::printf("%d STRICT sleepers: daemon %.1f MiB, %.1f MiB before: %.1f KiB each\n", sleepers,
              rss_mib(daemon), before, (rss_mib(daemon) - before) * 1024 / sleepers);
  bench::Samples all;
  all.time([&] {
    for (const std::string& id : ids) client.call("DELETE", "/v1/runs/" + id);
    wait_for_alive(client, 0);
  });
  std::printf("all of them asked to end, killed, reaped and proved gone in %.0f ms\n",
              all.percentile(0.5));
}

void bench_wall_clock(Client& client) {
  constexpr int runs = 100;
  constexpr double wall_seconds = 3;
  std::vector<std::string> ids;
  for (int i = 0; i < runs; ++i)
    ids.push_back(id_of(client.call("POST", "/v1/runs",
                                    R"({"profile":"DEFAULT","argv":["sleep","600"],)"
                                    R"("limits":{"wall_seconds":3},"detach":true})")));
  bench::Samples late;
  for (const std::string& id : ids) {
    const std::string run = client.call("GET", "/v1/runs/" + id + "?wait_seconds=30");
    if (run.find("wall_clock") == std::string::npos) give_up(run);
    late.add((number_after(run, "\"duration_s\":") - wall_seconds) * 1000);
  }
  bench::print("late after wall_seconds", late);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::exit_code_of([&] {
    if (argc != 2) give_up("usage: daemon_bench PATH_OF_PADDOCKD");
    const bench::BenchDirectory directory;
    std::ofstream(directory.path() + "/config.toml") << "[limits]\nruns_alive = 256\n";
    bench::RealDaemon daemon(directory.path(), argv[1]);
    daemon.start();
    Client client(daemon.socket());
    bench_off(client);
    bench_sleepers(client, daemon.pid());
    bench_wall_clock(client);
  });
}
