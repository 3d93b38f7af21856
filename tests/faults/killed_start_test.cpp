// Goal: a daemon that is SIGKILLed while it does what its start brings, which is to end and record
// what the last one left and to delete what is too old, leaves a successor that can do the same.
// Method: it dies at calls all over its recovery, and before or after each call that writes a
// pruning.

#include <algorithm>
#include <csignal>
#include <iostream>

#include "faults/told.hpp"
#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/retention.hpp"
#include "supervisor/ledger/verify.hpp"

using namespace paddock;
using namespace paddock::faults;

namespace {

constexpr int never = 1'000'000;

// Runs that outlive their daemon, if nobody ends them; and then it is dead.
void leave_runs(FaultyDaemon& faulty, Told& told, const std::string& marker) {
  for (int run = 0; run < 3; ++run) {
    const std::string id = faulty->start(shell(marked_sleeper(marker)));
    told.run(id);
    faulty.know(id);
    faulty->wait_until_started(id);
  }
  faulty->signal(SIGKILL);
  CHECK(faulty->wait_for_end().signal == SIGKILL);
}

void check_restarted(FaultyDaemon& faulty, const Told& told, const std::string& marker) {
  CHECK(processes_with(marker).empty());
  CHECK(faulty.footprint().leaves == 0);
  check_ledger(faulty.daemon(), told);
  for (const auto& [id, cause] : told.all())
    CHECK(faulty->get("/v1/runs/" + id).json()["result"]["cause"] == "daemon_restart");
  CHECK(faulty.run(quick())["result"]["cause"] == "exited");
}

supervisor::Verification verified(const FaultyDaemon& faulty) {
  const auto verified = supervisor::verify_ledger(faulty.ledger(), std::nullopt);
  REQUIRE(verified);
  CHECK_FALSE(verified->edit);
  return *verified;
}

bool is_in_ledger(const FaultyDaemon& faulty, const std::string& run) {
  auto reader = supervisor::LedgerReader::open(faulty.ledger());
  REQUIRE(reader);
  const auto stored = reader->run(run);
  REQUIRE(stored);
  return stored->has_value();
}

}  // namespace

TEST_CASE("a daemon that is killed while it recovers leaves the rest to the next one") {
  FaultyDaemon faulty;
  const std::string marker = unique_marker();
  Told told;
  // How many calls there are: it would die at one that does not come.
  leave_runs(faulty, told, marker);
  faulty.board().die(Effect::die_before, Call::any, never, std::string(at_recovery));
  faulty->start_again();
  const auto calls = static_cast<int>(never - faulty.board()->skip);
  faulty.board().clear();
  check_restarted(faulty, told, marker);
  REQUIRE(calls > 20);

  const auto die_and_recover = [&](Effect effect, Call call, int at) {
    INFO((effect == Effect::die_before ? "before " : "after ") << name_of(call) << " " << at);
    leave_runs(faulty, told, marker);
    faulty.board().die(effect, call, at, std::string(at_recovery));
    const auto ended = faulty->try_to_start_again();
    REQUIRE(ended);
    CHECK(ended->signal == SIGKILL);
    std::cout << "killed at " << name_of(call) << " " << at << " while writing "
              << faulty.board()->writing.data() << "\n";
    faulty.board().clear();
    faulty->start_again();
    check_restarted(faulty, told, marker);
  };
  // A few calls less than there were: what is gone already need not be ended.
  const int deaths = std::min(repetitions("FAULT_KILLS", 6), calls);
  for (int death = 0; death < deaths; ++death)
    die_and_recover(death % 2 == 0 ? Effect::die_before : Effect::die_after, Call::any,
                    death * (calls * 9 / 10) / deaths);
  // What is ended is recorded at last.
  for (const Call call : {Call::pwrite, Call::fsync})
    for (const Effect effect : {Effect::die_before, Effect::die_after})
      die_and_recover(effect, call, 0);
}

TEST_CASE(
    "a daemon that is killed while it prunes leaves a whole ledger, and the next one prunes") {
  constexpr int seconds_per_day = 86'400;
  FaultyDaemon faulty({.config = "[ledger]\nkeep_days = 1\n"});
  const int deaths = repetitions("FAULT_KILLS", 8);
  for (int death = 0; death < deaths; ++death) {
    const Call call = death % 2 == 0 ? Call::pwrite : Call::fsync;
    const Effect effect = death / 2 % 2 == 0 ? Effect::die_before : Effect::die_after;
    const int at = death / 4 % (call == Call::pwrite ? 6 : 1);
    INFO((death / 2 % 2 == 0 ? "before " : "after ") << name_of(call) << " " << at);
    const std::string old = faulty.run(quick())["id"];
    const std::uint64_t newest = verified(faulty).head.seq;
    faulty->signal(SIGKILL);
    CHECK(faulty->wait_for_end().signal == SIGKILL);
    faulty.board()->clock_offset_s += 2 * seconds_per_day;
    faulty.board().die(effect, call, at, std::string(supervisor::pruned_kind));
    auto ended = faulty->try_to_start_again();
    if (!ended) ended = faulty->wait_for_end();
    CHECK(ended->signal == SIGKILL);
    const std::string writing = faulty.board()->writing.data();
    CHECK_THAT(writing, Catch::Contains(std::string(supervisor::pruned_kind)));
    faulty.board().clear();
    verified(faulty);
    faulty->start_again();
    CHECK(eventually([&] { return verified(faulty).anchor.seq >= newest; }));
    CHECK_FALSE(is_in_ledger(faulty, old));
    CHECK(is_in_ledger(faulty, faulty.run(quick())["id"]));
  }
}
