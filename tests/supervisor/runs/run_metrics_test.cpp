// What the run table tells its observer, counted.

#include "supervisor/runs/run_metrics.hpp"

#include "supervisor/runs/table_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using std::chrono::milliseconds;
using tests::TableFixture;

namespace {

bool has(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

struct CountedTable : TableFixture {
  CountedTable() { remake({.alive_max = 1, .queued_max = 1}, &counts); }
  std::string text() { return metrics.text({}); }

  Metrics metrics{"1"};
  RunMetrics counts{metrics, [](const std::string& tenant) { return "class of " + tenant; }};
};

}  // namespace

TEST_CASE_METHOD(CountedTable, "a run is counted once, with its profile, its cause and its class") {
  ResolvedRun run = shell("exit 3");
  run.tenant = "research";
  const RunId id = table->submit(std::move(run), {}).value();
  run_until_finished(id);
  const std::string counted = text();
  INFO(counted);
  CHECK(has(counted,
            "paddock_runs_total{cause=\"exited\",profile=\"custom\",tenant_class=\"class of "
            "research\"} 1"));
  CHECK(has(counted, "paddock_run_setup_seconds_count 1"));
  CHECK(has(counted, "paddock_run_queue_seconds_count 1"));
  CHECK(has(counted, "paddock_run_kill_seconds_count 0"));
}

TEST_CASE_METHOD(CountedTable, "a refusal of the table is counted with its reason") {
  const RunId alive = submit("sleep 60").value();
  run_until([&] { return table->alive() == 1; });
  CHECK(submit("true"));
  CHECK_FALSE(submit("true"));
  CHECK(has(text(), "paddock_runs_refused_total{reason=\"too_busy\"} 1"));
  [[maybe_unused]] const auto stopped = table->stop(alive);
  run_until_finished(alive);
}

TEST_CASE_METHOD(CountedTable, "the time to kill is measured from the order, grace included") {
  const RunId asked = submit("trap '' TERM; while :; do sleep 0.02; done").value();
  run_until([&] { return table->find(asked)->receipt.has_value(); });
  run_until(
      [&, at = kernel::Clock::now() + milliseconds(200)] { return kernel::Clock::now() > at; });
  REQUIRE(table->stop(asked));
  run_until_finished(asked);
  const std::string after_stop = text();
  INFO(after_stop);  // grace is 1 s
  CHECK(has(after_stop, "paddock_run_kill_seconds_bucket{le=\"0.5\"} 0"));
  CHECK(has(after_stop, "paddock_run_kill_seconds_bucket{le=\"2.5\"} 1"));

  ResolvedRun late = shell("sleep 60");
  late.policy.wall_clock = milliseconds(600);
  run_until_finished(table->submit(std::move(late), {}).value());
  const std::string after_deadline = text();
  INFO(after_deadline);
  CHECK(has(after_deadline, "paddock_run_kill_seconds_bucket{le=\"0.5\"} 1"));
  CHECK(has(after_deadline, "paddock_run_kill_seconds_count 2"));
}
