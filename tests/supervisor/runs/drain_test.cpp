// Drain as it decides, on a real loop, and the table that it belongs to.

#include "supervisor/runs/drain.hpp"

#include "supervisor/runs/table_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::Cause;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::TableFixture;

TEST_CASE_METHOD(TableFixture, "a drain answers with what became of the runs that were there") {
  remake({.alive_max = 2});
  const RunId short_one = submit("sleep 0.1").value();
  const RunId long_one = submit("sleep 60").value();
  const RunId queued = submit("true").value();
  run_until([&] { return table->alive() == 2; });
  std::optional<DrainResult> seen;
  table->drain(milliseconds(400), DrainUntil::cancelled,
               [&](const DrainResult& result) { seen = result; });
  CHECK_FALSE(seen);
  CHECK(submit("true").error().code == kernel::ErrorCode::draining);
  run_until([&] { return seen.has_value(); });
  CHECK(*seen == DrainResult{.finished = 1, .killed = 1, .never_started = 1, .cancelled = false});
  CHECK(result(short_one).cause == Cause::exited);
  CHECK(result(long_one).cause == Cause::shutdown);
  CHECK(result(queued).cause == Cause::shutdown);
  CHECK(table->draining());
}

TEST_CASE_METHOD(TableFixture, "after a drain was cancelled runs are taken again") {
  CHECK(table->undrain().error().code == kernel::ErrorCode::invalid_request);
  const RunId alive = submit("sleep 0.3; echo whole").value();
  run_until([&] { return table->alive() == 1; });
  std::optional<DrainResult> seen;
  table->drain(milliseconds(50), DrainUntil::cancelled,
               [&](const DrainResult& result) { seen = result; });
  CHECK(table->undrain());
  CHECK_FALSE(table->draining());
  CHECK_FALSE(seen);  // never from within the call
  run_until([&] { return seen.has_value(); });
  CHECK(seen->cancelled);
  CHECK(result(alive).stdout == "whole\n");  // its deadline went with the drain
  CHECK(result(submit("echo again").value()).stdout == "again\n");
}

TEST_CASE_METHOD(TableFixture, "of two drains the earlier deadline holds, and both are answered") {
  const RunId alive = submit("sleep 60").value();
  run_until([&] { return table->alive() == 1; });
  int answers = 0;
  const auto count = [&](const DrainResult& drained) {
    CHECK(drained.killed == 1);
    ++answers;
  };
  table->drain(seconds(60), DrainUntil::cancelled, count);
  table->drain(milliseconds(100), DrainUntil::cancelled, count);
  table->drain(seconds(60), DrainUntil::cancelled, count);
  run_until([&] { return answers == 3; });
  CHECK(result(alive).cause == Cause::shutdown);
}

TEST_CASE_METHOD(TableFixture, "a daemon that ends cannot be made to go on by cancelling a drain") {
  std::vector<std::string> seen;
  table->drain(seconds(60), DrainUntil::cancelled,
               [&](const DrainResult&) { seen.push_back("a"); });
  run_until([&] { return seen.size() == 1; });  // idle: over at once
  table->drain(seconds(60), DrainUntil::end_of_daemon,
               [&](const DrainResult&) { seen.push_back("b"); });
  CHECK(table->undrain().error().code == kernel::ErrorCode::draining);
  table->drain(seconds(60), DrainUntil::cancelled, {});
  CHECK(table->undrain().error().code == kernel::ErrorCode::draining);
  run_until([&] { return seen.size() == 2; });
  CHECK(table->draining());
}
