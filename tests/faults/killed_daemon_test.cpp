// Goal: whenever the daemon is SIGKILLed, its successor leaves no process of it, gives each run one
// outcome, and has in its ledger what clients were told. Method: it dies before or after each call
// that writes to the ledger on a run's way, and at random moments under load.

#include <csignal>
#include <random>

#include "faults/told.hpp"

using namespace paddock::faults;
using nlohmann::json;
using std::chrono::seconds;

namespace {

// The daemon has died, or dies now.
void bury(FaultyDaemon& faulty) {
  const auto ended = faulty->wait_for_end(seconds(20));
  CHECK(ended.signal == SIGKILL);
}

// The successor serves: by then nothing may be left.
void check_recovered(FaultyDaemon& faulty, const Told& told, const std::string& marker) {
  faulty->start_again();
  CHECK(processes_with(marker).empty());
  for (const auto& [id, cause] : told.all()) faulty.know(id);
  CHECK(faulty.footprint().leaves == 0);
  check_ledger(faulty.daemon(), told);
  for (const auto& [id, cause] : told.all()) {
    const HttpReply reply = faulty->get("/v1/runs/" + id);
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    CHECK(reply.json()["state"] == "finished");
    if (cause) CHECK(reply.json()["result"]["cause"] == *cause);
  }
  CHECK(faulty.run(quick())["result"]["cause"] == "exited");
}

}  // namespace

TEST_CASE(
    "a daemon that is killed at a call that writes the ledger leaves one outcome of each run") {
  FaultyDaemon faulty;
  const int deaths = repetitions("FAULT_KILLS", 8);
  const std::string marker = unique_marker();
  for (int death = 0; death < deaths; ++death) {
    Told told;
    const Call call = death % 4 < 2 ? Call::fsync : Call::pwrite;
    const Effect effect = death % 2 == 0 ? Effect::die_before : Effect::die_after;
    INFO("at " << name_of(call) << " number " << death / 4
               << (death % 2 == 0 ? ", before" : ", after"));
    faulty.board().die(effect, call, death / 4 % 40);
    for (std::size_t kind = 0; ask_for(faulty->socket(), told, marker, kind % 4); ++kind)
      if (kind == 40) faulty->signal(SIGKILL);
    faulty.board().clear();
    bury(faulty);
    check_recovered(faulty, told, marker);
  }
}

TEST_CASE("a daemon that is killed under load, at any moment, leaves one outcome of each run") {
  FaultyDaemon faulty;
  const int deaths = repetitions("FAULT_KILLS", 6);
  const std::string marker = unique_marker();
  std::mt19937 random(2);
  for (int death = 0; death < deaths; ++death) {
    Told told;
    {
      const Load load(faulty.daemon(), told, marker);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 400'000));
      faulty->signal(SIGKILL);
    }
    bury(faulty);
    check_recovered(faulty, told, marker);
  }
}
