#include "kernel/run/run_sandboxed.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "kernel/policy/environment.hpp"
#include "kernel/run/sandbox.hpp"

namespace paddock::kernel {

int milliseconds_until(const std::optional<Clock::time_point>& time) {
  if (!time) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*time - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

void drive(Run& run, std::vector<AlsoWatch> also_watch) {
  while (!run.finished()) {
    std::vector<pollfd> polled;
    for (const Run::Watch& watch : run.watches()) polled.push_back({watch.fd, watch.events, 0});
    const std::size_t own = polled.size();
    for (const AlsoWatch& watch : also_watch) polled.push_back({watch.fd, POLLIN, 0});
    const int ready = ::poll(polled.data(), polled.size(), milliseconds_until(run.next_time()));
    if (ready < 0 && errno != EINTR) return run.abandon();
    run.on_time();
    run.release();
    if (ready <= 0) continue;
    for (std::size_t i = 0; i < own && !run.finished(); ++i)
      if (polled[i].revents != 0) run.on_ready(polled[i].fd);
    run.release();
    // Collect first, then call: a callback may end its own watching.
    std::vector<AlsoWatch> still;
    for (std::size_t i = own; i < polled.size(); ++i) {
      AlsoWatch& watch = also_watch[i - own];
      if (polled[i].revents == 0 || watch.on_ready()) still.push_back(std::move(watch));
    }
    also_watch = std::move(still);
  }
}

Result<SandboxResult> run_sandboxed(const std::vector<std::string>& argv,
                                    const SandboxPolicy& policy, std::string stdin_bytes,
                                    const std::map<std::string, std::string>& env,
                                    const std::string& cwd) {
  SandboxPolicy whole = policy;
  for (const auto& [name, value] : env) {
    TRY_VOID(check_environment_name("env", name));
    whole.environment[name] = value;
  }
  TRY_VOID(check_policy(whole));
  const Sandbox sandbox = TRY(Sandbox::open({}));
  auto run = TRY(sandbox.start(whole, argv, cwd, "run-" + std::to_string(::getpid()),
                               {.stdin_bytes = std::move(stdin_bytes)}));
  drive(*run);
  return run->take_result();
}

}  // namespace paddock::kernel
