// The wall clock jumps, as by an operator's hand or a late NTP: no deadline, duration or order
// moves with it.

#include <thread>

#include "faults/faulty_daemon.hpp"

using namespace paddock::faults;
using nlohmann::json;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST_CASE("a wall clock that jumps by a day, either way, moves no deadline and no duration") {
  constexpr std::int64_t day_s = 24 * 60 * 60;
  FaultyDaemon faulty;
  for (const std::int64_t offset_s : {day_s, -2 * day_s, std::int64_t{0}}) {
    INFO("the clock jumps to " << offset_s << " s");
    json request = shell("sleep 60");
    request["limits"] = {{"wall_seconds", 2}};
    const std::string bounded = faulty->start(request);
    const std::string patient = faulty->start(shell("sleep 1; echo x"));
    faulty.know(bounded);
    faulty.know(patient);
    faulty->wait_until_started(bounded);
    faulty->wait_until_started(patient);
    const auto begin = steady_clock::now();
    faulty.board()->clock_offset_s = offset_s;
    const json exited = faulty->finished(patient)["result"];
    CHECK(exited["cause"] == "exited");
    CHECK(exited["duration_s"].get<double>() >= 1.0);
    CHECK(exited["duration_s"].get<double>() < 15.0);
    const json late = faulty->finished(bounded)["result"];
    CHECK(late["cause"] == "wall_clock");
    CHECK(late["duration_s"].get<double>() >= 2.0);
    CHECK(late["duration_s"].get<double>() < 15.0);
    CHECK(steady_clock::now() - begin < seconds(20));
    CHECK(faulty.run(quick())["queue_ms"].get<int>() < 5000);
    // Newest first, whatever the clock says.
    const json runs = faulty->get("/v1/runs?limit=3").json()["runs"];
    CHECK(runs[1]["id"] == patient);
    CHECK(runs[2]["id"] == bounded);
  }
  faulty.check_nothing_left();
}
