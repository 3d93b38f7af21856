#include "supervisor/warm/pool_machine.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using Order = PoolMachine::Order;
using What = Order::What;

// A pool as its driver would have it, with a clock that stands until it is moved.
class Pool {
 public:
  explicit Pool(PoolLimits pool_limits = {.zygotes_max = 8, .starting_max = 8, .slots = 4})
      : machine(pool_limits) {}

  // The zygote that the run got; empty: it is cold.
  std::string run(const std::string& id, const std::string& kind = "k") {
    return machine.run_wants(id, kind, limits, now).zygote.value_or("");
  }
  void over(const std::string& id) { machine.run_over(id, now); }
  void opened(const std::string& id) { machine.gate_opened(id); }

  // Does what is to be done; starts give z1, z2, ... which are not ready. What was ended.
  std::vector<std::string> act() {
    std::vector<std::string> ended;
    for (const Order& order : machine.decide(now)) {
      if (order.what == What::start) {
        machine.zygote_started(order.kind, "z" + std::to_string(++started), now);
      } else {
        ended.push_back(order.zygote + " " + std::string(name_of(order.why)));
        if (ends_at_once) machine.zygote_gone(order.zygote, now);
      }
    }
    return ended;
  }
  void ready(const std::string& name) { machine.zygote_ready(name, now); }

  // So many zygotes of that kind, ready and without a run: first .. first + count - 1.
  void fill(std::size_t count, const std::string& kind = "k") {
    for (std::size_t i = 0; i < count; ++i) run("fill" + std::to_string(i), kind);
    const std::size_t before = started;
    act();
    REQUIRE(started == before + count);
    for (std::size_t i = 0; i < count; ++i) {
      ready("z" + std::to_string(before + i + 1));
      over("fill" + std::to_string(i));
      now += milliseconds(1);
    }
  }

  PoolMachine machine;
  ZygoteLimits limits{.zygotes = 0, .idle = seconds(300), .memory_bytes = 1000, .runs = 100};
  PoolMachine::Time now{};
  std::size_t started = 0;
  bool ends_at_once = true;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the first run of a kind is cold, and the next one a fork") {
  Pool pool;
  const auto choice = pool.machine.run_wants("r1", "k", pool.limits, pool.now);
  CHECK_FALSE(choice.zygote.has_value());
  CHECK(choice.cold_because == "no zygote is ready");
  CHECK(pool.act().empty());
  CHECK(pool.started == 1);
  CHECK(pool.run("r2").empty());  // it is not ready yet
  pool.over("r1");
  pool.over("r2");
  pool.ready("z1");
  CHECK(pool.run("r3") == "z1");
}

TEST_CASE("there are as many zygotes as runs at a time, and not one for each run") {
  Pool pool;
  pool.run("r1");
  pool.act();
  pool.over("r1");
  for (int i = 0; i < 20; ++i) {  // one after the other while the zygote starts
    const std::string id = "a" + std::to_string(i);
    pool.run(id);
    pool.act();
    pool.over(id);
  }
  CHECK(pool.started == 1);
  pool.run("b1");
  pool.run("b2");
  pool.run("b3");
  pool.act();
  CHECK(pool.started == 3);
}

TEST_CASE("a kind has no more zygotes than its limit, and than slots if that is 0") {
  for (const std::size_t zygotes : {std::size_t{0}, std::size_t{2}, std::size_t{6}}) {
    Pool pool;
    pool.limits.zygotes = zygotes;
    for (int i = 0; i < 20; ++i) pool.run("r" + std::to_string(i));
    pool.act();
    pool.act();
    CHECK(pool.started == (zygotes == 0 ? 4 : zygotes));
  }
}

TEST_CASE("a zygote has at most one run, and the last one that was used is used first") {
  Pool pool;
  pool.fill(3);
  CHECK(pool.run("r1") == "z3");
  CHECK(pool.run("r2") == "z2");
  CHECK(pool.run("r3") == "z1");
  CHECK(pool.run("r4").empty());
  pool.now += milliseconds(1);
  pool.over("r2");
  pool.now += milliseconds(1);
  pool.over("r3");
  CHECK(pool.run("r5") == "z1");
  CHECK(pool.run("r6") == "z2");
}

TEST_CASE("kinds do not mix") {
  Pool pool;
  pool.fill(1, "candidate");
  CHECK(pool.run("r1", "judge").empty());
  CHECK(pool.run("r2", "candidate") == "z1");
}

TEST_CASE("an idle zygote is ended, and one in use is not") {
  Pool pool;
  pool.fill(2);
  CHECK(pool.run("r1") == "z2");
  pool.opened("r1");
  pool.now += seconds(299);
  CHECK(pool.act().empty());
  pool.now += seconds(2);
  CHECK(pool.act() == Lines{"z1 idle"});
  pool.over("r1");
  CHECK(pool.act().empty());
  CHECK(*pool.machine.next_time(pool.now) == pool.now + seconds(300));
  pool.now += seconds(300);
  CHECK(pool.act() == Lines{"z2 idle"});
  CHECK_FALSE(pool.machine.next_time(pool.now).has_value());
}

TEST_CASE("a zygote has so many forks, and its replacement is there before the last") {
  Pool pool;
  pool.limits.runs = 16;
  pool.fill(1);
  for (int i = 1; i <= 16; ++i) {
    INFO(i);
    const std::string id = "r" + std::to_string(i);
    CHECK(pool.run(id) == "z1");
    pool.opened(id);
    CHECK(pool.act().empty());
    CHECK(pool.started == (i < 14 ? 1 : 2));  // two of sixteen ahead
    pool.over(id);
    if (i == 16) break;
    CHECK(pool.act().empty());
  }
  CHECK(pool.act() == Lines{"z1 runs"});
  pool.ready("z2");
  CHECK(pool.run("next") == "z2");
}

TEST_CASE("a zygote that has become too large is ended when it has no run") {
  Pool pool;
  pool.fill(1);
  pool.run("r1");
  pool.opened("r1");
  pool.over("r1");
  CHECK(pool.machine.to_be_weighed() == Lines{"z1"});
  pool.machine.zygote_weighed("z1", 1000);
  CHECK(pool.machine.to_be_weighed().empty());
  CHECK(pool.act().empty());
  pool.machine.zygote_weighed("z1", 1001);
  CHECK(pool.run("r2").empty());  // nor is it used meanwhile
  CHECK(pool.act() == Lines{"z1 memory"});
}

TEST_CASE("one that does not get ready in time is ended") {
  Pool pool;
  pool.run("r1");
  pool.act();
  CHECK(*pool.machine.next_time(pool.now) == pool.now + seconds(10));
  pool.now += milliseconds(9'999);
  CHECK(pool.act().empty());
  pool.now += milliseconds(1);
  CHECK(pool.act() == Lines{"z1 not_ready"});
}

TEST_CASE("one whose fork's gate does not open within two seconds is ended") {
  Pool pool;
  pool.fill(2);
  CHECK(pool.run("r1") == "z2");
  CHECK(pool.run("r2") == "z1");
  pool.opened("r2");
  CHECK(*pool.machine.next_time(pool.now) == pool.now + seconds(2));
  pool.now += seconds(2);
  pool.ends_at_once = false;
  CHECK(pool.act() == Lines{"z2 no_answer"});
  CHECK(pool.act().empty());  // once
}

TEST_CASE("one that has lost a run is not used again, and the run is cold") {
  Pool pool;
  pool.fill(1);
  CHECK(pool.run("r1") == "z1");
  pool.machine.run_is_cold("r1", ZygoteEnd::lost_run);
  CHECK(pool.run("r2").empty());
  CHECK(pool.act() == Lines{"z1 lost_run"});
}

TEST_CASE("one whose forks are stopped, or could not be set up now and then, goes on") {
  Pool pool;
  pool.fill(1);
  for (int i = 0; i < 10; ++i) {
    const std::string stopped = "s" + std::to_string(i);
    CHECK(pool.run(stopped) == "z1");
    pool.machine.run_is_lost(stopped, /*by_itself=*/false);
    pool.over(stopped);
    const std::string lost = "l" + std::to_string(i);
    CHECK(pool.run(lost) == "z1");
    pool.machine.run_is_lost(lost, /*by_itself=*/true);
    pool.over(lost);
    const std::string good = "g" + std::to_string(i);
    CHECK(pool.run(good) == "z1");
    pool.opened(good);
    pool.over(good);
  }
  CHECK(pool.act().empty());
}

TEST_CASE("one whose forks cannot be set up three times in a row is ended") {
  Pool pool;
  pool.fill(1);
  for (const std::string id : {"r1", "r2", "r3"}) {
    CHECK(pool.act().empty());
    CHECK(pool.run(id) == "z1");
    pool.machine.run_is_lost(id, /*by_itself=*/true);
    pool.over(id);
  }
  CHECK(pool.run("r4").empty());
  CHECK(pool.act() == Lines{"z1 lost_run"});
}

TEST_CASE("zygotes that are of no use are started again after 1, 2, 4 ... 60 seconds") {
  Pool pool;
  pool.run("r1");  // it stays, and wants one all the time
  std::vector<std::chrono::seconds> waits;
  for (int i = 0; i < 8; ++i) {
    pool.act();
    CHECK(pool.started == static_cast<std::size_t>(i + 1));
    CHECK(pool.machine.zygote_gone("z" + std::to_string(i + 1), pool.now));
    const auto next = pool.machine.next_time(pool.now);
    REQUIRE(next.has_value());
    waits.push_back(std::chrono::duration_cast<seconds>(*next - pool.now));
    pool.act();
    CHECK(pool.started == static_cast<std::size_t>(i + 1));
    pool.now = *next;
  }
  CHECK(waits == std::vector<seconds>{seconds(1), seconds(2), seconds(4), seconds(8), seconds(16),
                                      seconds(32), seconds(60), seconds(60)});
}

TEST_CASE("being ready is no use yet: a fork's open gate is, and ends the waiting") {
  Pool pool;
  pool.run("r1");
  pool.act();
  pool.ready("z1");
  CHECK(pool.machine.zygote_gone("z1", pool.now));
  pool.act();
  CHECK(pool.started == 1);  // a second has not passed
  pool.now += seconds(1);
  pool.act();
  CHECK(pool.started == 2);
  pool.ready("z2");
  pool.over("r1");
  CHECK(pool.run("r2") == "z2");
  pool.opened("r2");
  CHECK(pool.machine.zygote_of("r2") == "z2");
  CHECK(pool.machine.zygote_gone("z2", pool.now));  // killed, and it was good
  CHECK_FALSE(pool.machine.zygote_of("r2").has_value());
  pool.act();
  CHECK(pool.started == 3);
}

TEST_CASE("one that could not even be started counts as well") {
  Pool pool;
  pool.run("r1");
  const auto orders = pool.machine.decide(pool.now);
  REQUIRE(orders.size() == 1);
  pool.machine.zygote_not_started("k", pool.now);
  CHECK(pool.machine.decide(pool.now).empty());
  CHECK(*pool.machine.next_time(pool.now) == pool.now + seconds(1));
}

TEST_CASE("an order to start is given once, and only so many start at a time") {
  Pool pool({.zygotes_max = 8, .starting_max = 2, .slots = 4});
  for (int i = 0; i < 4; ++i) pool.run("r" + std::to_string(i));
  CHECK(pool.machine.decide(pool.now).size() == 2);
  CHECK(pool.machine.decide(pool.now).empty());
  pool.machine.zygote_started("k", "z1", pool.now);
  CHECK(pool.machine.decide(pool.now).empty());
  pool.machine.zygote_ready("z1", pool.now);
  CHECK(pool.machine.decide(pool.now).size() == 1);
}

TEST_CASE("all kinds together have a bound, and the one that was idle the longest makes room") {
  Pool pool({.zygotes_max = 3, .starting_max = 8, .slots = 4});
  pool.fill(2, "a");
  pool.fill(1, "b");
  CHECK(pool.run("c1", "c").empty());
  CHECK(pool.act().empty());  // they were used a moment ago
  pool.now += seconds(1);
  CHECK(pool.run("a1", "a") == "z2");
  pool.opened("a1");
  CHECK(pool.act() == Lines{"z1 evicted"});
  CHECK(pool.started == 3);
  CHECK(pool.act().empty());
  CHECK(pool.started == 4);
  CHECK(pool.run("c2", "c").empty());
  CHECK(pool.act() == Lines{"z3 evicted"});
  CHECK(pool.act().empty());
  CHECK(pool.started == 5);
  CHECK(pool.run("c3", "c").empty());
  CHECK(pool.act().empty());  // what has a run is not ended for another
  CHECK(pool.started == 5);
}

TEST_CASE("a renewal ends all, those with a run after it, and forgets what has failed") {
  Pool pool;
  pool.fill(2);
  CHECK(pool.run("r1") == "z2");
  pool.opened("r1");
  pool.machine.renew();
  CHECK(pool.run("r2").empty());  // of what is ended none is used
  CHECK(pool.act() == Lines{"z1 renewed"});
  CHECK(pool.started == 4);  // new ones, for the runs that there are
  pool.over("r1");
  CHECK(pool.act() == Lines{"z2 renewed"});
  CHECK(pool.machine.zygote_gone("z3", pool.now));
  CHECK(pool.machine.next_time(pool.now).has_value());
  pool.machine.renew();
  pool.act();
  CHECK(pool.started >= 5);
}

TEST_CASE("kinds are bounded: those that are in use are kept, and others forgotten") {
  Pool pool({.zygotes_max = 1000, .starting_max = 1000, .slots = 4});
  for (std::size_t i = 0; i < zygote_kinds_max; ++i) {
    pool.now += milliseconds(1);
    pool.run("r" + std::to_string(i), "kind" + std::to_string(i));
  }
  const auto choice = pool.machine.run_wants("more", "more", pool.limits, pool.now);
  CHECK(choice.cold_because == "there are too many kinds of zygotes in use");
  pool.over("r3");
  pool.machine.run_wants("more", "more", pool.limits, pool.now);
  CHECK(pool.machine.knows("more"));
  CHECK_FALSE(pool.machine.knows("kind3"));
  CHECK(pool.machine.knows("kind2"));
}

TEST_CASE("where there is no place for zygotes a run is told so, and none is started") {
  Pool pool({.zygotes_max = 0, .starting_max = 8, .slots = 4});
  CHECK(pool.machine.run_wants("r1", "k", pool.limits, pool.now).cold_because ==
        "there are no host_uids to spare for zygotes");
  CHECK(pool.act().empty());
  CHECK(pool.started == 0);
  pool.over("r1");
}
