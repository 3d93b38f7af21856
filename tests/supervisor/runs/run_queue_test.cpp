#include "supervisor/runs/run_queue.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::ErrorCode;

namespace {

constexpr std::size_t plenty = 1000;

RunQueue queue_with(std::size_t alive_max, std::size_t queued_max = plenty,
                    std::size_t queued_bytes_max = plenty) {
  return RunQueue(
      {.alive_max = alive_max, .queued_max = queued_max, .queued_bytes_max = queued_bytes_max});
}

void push(RunQueue& queue, const RunId& id, const std::string& tenant, std::size_t bytes = 0) {
  const auto pushed = queue.push(id, tenant, bytes);
  INFO(id);
  REQUIRE(pushed);
  queue.release(id);
}

std::string refusal(const kernel::Result<void>& result) {
  if (result) return "";
  CHECK(result.error().code == ErrorCode::too_busy);
  return result.error().message;
}

std::vector<RunId> take_all(RunQueue& queue) {
  std::vector<RunId> taken;
  while (const auto id = queue.take()) taken.push_back(*id);
  return taken;
}

using Ids = std::vector<RunId>;

}  // namespace

TEST_CASE("one tenant's runs start in the order in which they came") {
  RunQueue queue = queue_with(2);
  for (const char* id : {"a1", "a2", "a3"}) push(queue, id, "a");
  CHECK(queue.waiting() == Ids{"a1", "a2", "a3"});
  CHECK(take_all(queue) == Ids{"a1", "a2"});
  CHECK(queue.alive() == 2);
  CHECK(queue.queued() == 1);
  queue.remove("a1");
  CHECK(take_all(queue) == Ids{"a3"});
}

TEST_CASE("where room is kept a flood leaves half of the slots to whoever came lately") {
  using std::chrono::seconds;
  const RunQueue::Time start{};
  RunQueue queue({.alive_max = 5, .room_kept = seconds(10)});
  const auto come = [&](const std::string& id, const std::string& tenant, seconds after) {
    REQUIRE(queue.push(id, tenant, 0, start + after));
    queue.release(id);
  };
  for (int i = 0; i < 20; ++i) come("f" + std::to_string(i), "flooder", seconds(0));
  for (int i = 0; i < 5; ++i) CHECK(queue.take(start));
  // Nobody else was there.
  come("n1", "neighbour", seconds(1));
  CHECK_FALSE(queue.take(start + seconds(1)));
  for (const char* id : {"f0", "f1", "f2"}) queue.remove(id);
  CHECK(queue.take(start + seconds(1)) == "n1");
  queue.remove("n1");
  // Two of the flood are alive, three may be.
  CHECK(queue.take(start + seconds(1)) == "f5");
  CHECK_FALSE(queue.take(start + seconds(1)));
  come("n2", "neighbour", seconds(9));
  CHECK(queue.take(start + seconds(9)) == "n2");
  CHECK_FALSE(queue.take(start + seconds(19)));
  CHECK(queue.take(start + seconds(20)) == "f6");
  CHECK_FALSE(queue.take(start + seconds(20)));  // all five are alive
}

TEST_CASE("a flood delays its own tenant and nobody else") {
  RunQueue queue = queue_with(2);
  for (int i = 0; i < 100; ++i) push(queue, "flood" + std::to_string(i), "flooder");
  push(queue, "b1", "b");
  push(queue, "c1", "c");
  CHECK(take_all(queue) == Ids{"flood0", "b1"});
  queue.remove("flood0");
  CHECK(take_all(queue) == Ids{"c1"});
}

TEST_CASE("with one slot for all, tenants take turns") {
  RunQueue queue = queue_with(1);
  for (int i = 0; i < 5; ++i) push(queue, "a" + std::to_string(i), "a");
  for (int i = 0; i < 2; ++i) push(queue, "b" + std::to_string(i), "b");
  push(queue, "c0", "c");
  Ids order;
  while (const auto id = queue.take()) {
    order.push_back(*id);
    queue.remove(*id);
  }
  CHECK(order == Ids{"a0", "b0", "c0", "a1", "b1", "a2", "a3", "a4"});
}

TEST_CASE("a free slot goes to the fewest live runs, and among equals to the longest wait") {
  RunQueue queue = queue_with(3);
  push(queue, "a1", "a");
  push(queue, "a2", "a");
  CHECK(take_all(queue) == Ids{"a1", "a2"});
  push(queue, "a3", "a");
  push(queue, "c1", "c");
  push(queue, "b1", "b");
  CHECK(take_all(queue) == Ids{"c1"});
  queue.remove("a1");
  CHECK(take_all(queue) == Ids{"b1"});
}

TEST_CASE("a tenant at its cap waits while others start") {
  RunQueue queue = queue_with(10);
  queue.set_tenant_limits({{"a", {.alive_max = 1}}});
  for (const char* id : {"a1", "a2"}) push(queue, id, "a");
  for (const char* id : {"b1", "b2"}) push(queue, id, "b");
  CHECK(take_all(queue) == Ids{"a1", "b1", "b2"});
  CHECK(queue.alive("a") == 1);
  CHECK(queue.queued("a") == 1);
  queue.remove("b1");
  CHECK(take_all(queue).empty());
  queue.remove("a1");
  CHECK(take_all(queue) == Ids{"a2"});
}

TEST_CASE(
    "a cap that is raised or lifted counts at once, and one that is lowered takes nothing away") {
  RunQueue queue = queue_with(10);
  queue.set_tenant_limits({{"a", {.alive_max = 1}}});
  for (const char* id : {"a1", "a2", "a3", "a4"}) push(queue, id, "a");
  CHECK(take_all(queue).size() == 1);
  queue.set_tenant_limits({{"a", {.alive_max = 2}}});
  CHECK(take_all(queue) == Ids{"a2"});
  queue.set_tenant_limits({{"a", {.alive_max = 1}}});
  CHECK(queue.alive("a") == 2);
  queue.remove("a1");
  CHECK(take_all(queue).empty());
  queue.set_tenant_limits({});
  CHECK(take_all(queue) == Ids{"a3", "a4"});
}

TEST_CASE("past its own limit a tenant is told its own numbers, and others are not touched") {
  RunQueue queue = queue_with(1);
  queue.set_tenant_limits({{"a", {.queued_max = 2}}});
  push(queue, "b1", "b");
  CHECK(take_all(queue) == Ids{"b1"});
  push(queue, "a1", "a");
  push(queue, "a2", "a");
  CHECK(refusal(queue.push("a3", "a", 0)) ==
        "the queue of tenant 'a' is full (2 runs, and 0 of its runs are alive); try again later");
  CHECK(queue.queued("a") == 2);
  push(queue, "b2", "b");
  // What could start at once does not wait.
  queue.remove("b1");
  push(queue, "a3", "a");
  CHECK_FALSE(refusal(queue.push("a4", "a", 0)).empty());
}

TEST_CASE("the daemon's limit holds for the sum of all tenants") {
  RunQueue queue = queue_with(1, 2);
  for (const char* id : {"a1", "b1", "c1"}) push(queue, id, id);
  CHECK(refusal(queue.push("d1", "d", 0)) == "the queue is full (2 runs); try again later");
  CHECK(take_all(queue).size() == 1);
  CHECK_FALSE(refusal(queue.push("d1", "d", 0)).empty());
  queue.remove("b1");  // it waited
  push(queue, "d1", "d");
}

TEST_CASE("bytes are limited for one tenant and for all, and are given back") {
  RunQueue queue = queue_with(10, plenty, 1000);
  queue.set_tenant_limits({{"a", {.queued_bytes_max = 300}}});
  push(queue, "a1", "a", 200);
  CHECK(refusal(queue.push("a2", "a", 101)) ==
        "the queue of tenant 'a' is full (300 bytes of input); try again later");
  push(queue, "b1", "b", 700);
  CHECK(refusal(queue.push("b2", "b", 101)) ==
        "the queue is full (1000 bytes of input); try again later");
  CHECK_FALSE(refusal(queue.grow("a1", 101)).empty());
  CHECK(queue.grow("a1", 100));
  CHECK_FALSE(refusal(queue.grow("b1", 1)).empty());
  CHECK_FALSE(refusal(queue.push("b3", "b", static_cast<std::size_t>(-1))).empty());
  CHECK(take_all(queue) == Ids{"a1", "b1"});
  CHECK_FALSE(queue.push("a2", "a", 1));  // they hold their input until they have a process
  queue.started("a1");
  push(queue, "a2", "a", 300);
  queue.remove("a2");
  queue.started("b1");
  push(queue, "b2", "b", 1000);
  queue.remove("b2");
  push(queue, "b2", "b", 1000);
}

TEST_CASE("a run that is held keeps its place, and those behind it wait with it") {
  RunQueue queue = queue_with(5);
  REQUIRE(queue.push("a1", "a", 0));
  push(queue, "a2", "a");
  push(queue, "b1", "b");
  CHECK(take_all(queue) == Ids{"b1"});
  queue.release("a1");
  CHECK(take_all(queue) == Ids{"a1", "a2"});
  queue.release("a1");
  queue.release("none");
}

TEST_CASE("a run is taken at once only if it overtakes nobody who could start") {
  RunQueue queue = queue_with(3);
  queue.set_tenant_limits({{"capped", {.alive_max = 1}}});
  REQUIRE(queue.push("c1", "capped", 0));
  CHECK(queue.take_at_once("c1"));
  CHECK_FALSE(queue.take_at_once("c1"));
  REQUIRE(queue.push("c2", "capped", 0));
  CHECK_FALSE(queue.take_at_once("c2"));  // its tenant has all that it may
  REQUIRE(queue.push("a1", "a", 0));
  CHECK(queue.take_at_once("a1"));  // nobody could start in its place
  CHECK(queue.alive() == 2);
  REQUIRE(queue.push("a2", "a", 0));
  REQUIRE(queue.push("a3", "a", 0));
  CHECK_FALSE(queue.take_at_once("a3"));
  REQUIRE(queue.push("b1", "b", 0));
  CHECK_FALSE(queue.take_at_once("b1"));
  queue.remove("a2");
  queue.remove("a3");
  CHECK(queue.take_at_once("b1"));
  REQUIRE(queue.push("d1", "d", 0));
  CHECK_FALSE(queue.take_at_once("d1"));  // no slot
  CHECK_FALSE(queue.take_at_once("none"));
}

TEST_CASE("what is unknown is removed without harm, and twice is once") {
  RunQueue queue = queue_with(1);
  queue.remove("none");
  push(queue, "a1", "a");
  queue.remove("a1");
  queue.remove("a1");
  CHECK(queue.queued() == 0);
  CHECK(queue.alive() == 0);
  CHECK_FALSE(queue.take());
  CHECK(queue.grow("none", 1));
}

TEST_CASE("over random arrivals caps hold, order is kept, and nobody starves") {
  constexpr std::size_t tenants = 6;
  constexpr std::size_t alive_max = 5;
  constexpr std::size_t queued_max = 40;
  const unsigned seed = GENERATE(range(1u, 21u));
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return std::size_t{random()} % n; };

  RunQueue queue = queue_with(alive_max, queued_max, 2000);
  std::map<std::string, TenantLimits> limits;
  std::map<std::string, std::size_t> cap;
  for (std::size_t i = 0; i < tenants; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    cap[name] = alive_max;
    if (i % 2 == 0) limits[name].alive_max = cap[name] = 1 + below(3);
    if (i % 3 == 0) limits[name].queued_max = 1 + below(10);
  }
  queue.set_tenant_limits(limits);

  struct Run {
    std::string tenant;
    std::size_t number;
  };
  std::map<RunId, Run> waiting;
  std::map<RunId, Run> alive;
  std::map<std::string, std::size_t> last_started;
  std::map<std::string, std::size_t> last_turn;
  std::map<std::string, std::size_t> live;
  std::size_t number = 0;
  for (int step = 0; step < 3000; ++step) {
    // "a" floods; the others come now and then.
    const std::string tenant(1, static_cast<char>('a' + (below(2) == 0 ? 0 : below(tenants))));
    const RunId id = "r" + std::to_string(++number);
    if (queue.push(id, tenant, below(100))) {
      queue.release(id);
      waiting[id] = {tenant, number};
    }
    if (!alive.empty() && below(2) == 0) {
      const auto gone = std::next(alive.begin(), static_cast<long>(below(alive.size())));
      --live[gone->second.tenant];
      queue.remove(gone->first);
      alive.erase(gone);
    }
    if (!waiting.empty() && below(20) == 0) {
      const auto gone = std::next(waiting.begin(), static_cast<long>(below(waiting.size())));
      queue.remove(gone->first);
      waiting.erase(gone);
    }
    while (const auto taken = queue.take()) {
      const Run run = waiting.at(*taken);
      waiting.erase(*taken);
      CHECK(run.number > last_started[run.tenant]);  // the order within a tenant
      last_started[run.tenant] = run.number;
      std::set<std::string> could;
      for (const auto& [other, entry] : waiting)
        if (live[entry.tenant] < cap[entry.tenant]) could.insert(entry.tenant);
      for (const std::string& other : could) CHECK(live[run.tenant] <= live[other]);
      // Among tenants with as few live runs, the one that has waited longest.
      const auto waits_since = [&](const Run& first) {
        return std::max(first.number, last_turn[first.tenant]);
      };
      for (const auto& [other, entry] : waiting) {
        if (entry.tenant != run.tenant && could.contains(entry.tenant) &&
            live[entry.tenant] == live[run.tenant])
          CHECK(waits_since(run) < waits_since(entry));
      }
      last_turn[run.tenant] = ++number;
      if (below(2) == 0) queue.started(*taken);
      alive[*taken] = run;
      CHECK(++live[run.tenant] <= cap[run.tenant]);
    }
    CHECK(queue.alive() == alive.size());
    CHECK(queue.queued() == waiting.size());
    CHECK(alive.size() <= alive_max);
    CHECK(waiting.size() <= queued_max + alive_max);
    for (const auto& [name, limit] : limits) {
      CHECK(queue.alive(name) == live[name]);
      if (limit.queued_max) CHECK(queue.queued(name) <= *limit.queued_max + alive_max);
    }
    // No slot is free while somebody waits who may have it.
    if (alive.size() < alive_max)
      for (const auto& [other, entry] : waiting) CHECK(live[entry.tenant] >= cap[entry.tenant]);
  }
  CHECK(std::all_of(last_started.begin(), last_started.end(),
                    [](const auto& entry) { return entry.second > 0; }));
  CHECK(last_started.size() == tenants);
}
