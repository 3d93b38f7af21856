#pragma once
// A table on a real loop with real runs, without limits and isolation, and a recorder of the
// test's.

#include <uv.h>

#include <functional>
#include <memory>
#include <string>

#include "kernel/run/strays.hpp"
#include "supervisor/loop/event_loop.hpp"
#include "supervisor/runs/run_table.hpp"
#include "supervisor/runs/test_recorder.hpp"
#include "support/catch.hpp"

namespace paddock::tests {

// The loop outlives the table; its destructor asserts that no handle is left.
struct TableFixture {
  explicit TableFixture(supervisor::RunTableLimits limits = {}) : tick(loop->get()) {
    kernel::become_subreaper();
    remake(limits);
  }
  void remake(supervisor::RunTableLimits limits, supervisor::RunTableObserver* observer = nullptr) {
    table.reset();
    table =
        std::make_unique<supervisor::RunTable>(loop->get(), sandbox, recorder, limits, observer);
  }

  void run_until(const std::function<bool()>& condition) {
    const auto deadline = kernel::Clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      REQUIRE(kernel::Clock::now() < deadline);
      tick.start(std::chrono::milliseconds(5), [] {});
      uv_run(loop->get(), UV_RUN_ONCE);
    }
    tick.stop();
  }
  void run_for(std::chrono::milliseconds time) {
    const auto end = kernel::Clock::now() + time;
    run_until([end] { return kernel::Clock::now() >= end; });
  }
  void run_until_finished(const supervisor::RunId& id) {
    run_until([&] { return table->find(id)->phase == supervisor::RunPhase::finished; });
  }

  static supervisor::ResolvedRun shell(const std::string& script) {
    supervisor::ResolvedRun run;
    run.argv = {"/bin/sh", "-c", script};
    return run;
  }
  kernel::Result<supervisor::RunId> submit(const std::string& script,
                                           supervisor::RunObserver observer = {}) {
    return table->submit(shell(script), std::move(observer));
  }
  kernel::SandboxResult result(const supervisor::RunId& id) {
    run_until_finished(id);
    return *table->find(id)->result;
  }

  std::unique_ptr<supervisor::EventLoop> loop = supervisor::EventLoop::create().value();
  kernel::Sandbox sandbox = kernel::Sandbox::open({}).value();
  TestRecorder recorder{loop->get()};
  supervisor::Timer tick;
  std::unique_ptr<supervisor::RunTable> table;
};

}  // namespace paddock::tests
