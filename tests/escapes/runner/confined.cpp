#include "escapes/runner/confined.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>

#include "escapes/runner/audit.hpp"
#include "kernel/base/process_tree.hpp"
#include "kernel/run/run_sandboxed.hpp"

namespace paddock::escapes {
namespace {

using kernel::Run;
using kernel::SandboxResult;
using std::chrono::milliseconds;
using Kind = Observation::Kind;

constexpr milliseconds run_time_max{15'000};

// Drives all of them until `until` holds or none is live.
void drive_together(const std::vector<Run*>& runs, const std::function<bool()>& until) {
  const auto finished = [](const Run* run) { return run->finished(); };
  while (!until() && !std::all_of(runs.begin(), runs.end(), finished)) {
    std::vector<pollfd> polled;
    for (const Run* run : runs) {
      if (run->finished()) continue;
      for (const Run::Watch& watch : run->watches()) polled.push_back({watch.fd, watch.events, 0});
    }
    ::poll(polled.data(), polled.size(), 2);
    for (Run* run : runs) {
      if (run->finished()) continue;
      for (const pollfd& entry : polled)
        if (entry.revents != 0 && !run->finished()) run->on_ready(entry.fd);
      if (!run->finished()) run->on_time();
      run->release();
    }
  }
}

Observation observe_whole(const SandboxResult& result) {
  if (result.survivors_unproved && result.cause != kernel::Cause::tampered)
    return {Kind::unclear, "", "the run ended, and that nothing is left was not proved"};
  return observe(result);
}

// Of a supervisor that was forked from here too: its names are its own.
std::string next_run_name() {
  static unsigned count = 0;
  char digits[16];
  std::snprintf(digits, sizeof digits, "%04x%04x", static_cast<unsigned>(::getpid()) & 0xffff,
                ++count & 0xffff);
  return run_name_prefix() + digits;
}

bool reap_and_see_none(const Stage& stage, const Zygotes* zygotes) {
  for (const pid_t child : kernel::children_of(::getpid())) {
    if (stage.is_helper(child) || (zygotes != nullptr && zygotes->is_one(child))) continue;
    if (::waitpid(child, nullptr, WNOHANG) != child) return false;
  }
  return true;
}

}  // namespace

std::string run_name_prefix() {
  static const auto runner = static_cast<unsigned>(::getpid());
  char prefix[16];
  std::snprintf(prefix, sizeof prefix, "r-%08x", runner);
  return prefix;
}

Confined::Confined(const kernel::Sandbox& sandbox, Stage& stage, kernel::SandboxPolicy policy,
                   Zygotes* zygotes)
    : sandbox_(sandbox), stage_(stage), zygotes_(zygotes), policy_(std::move(policy)) {
  if (policy_.use_bubblewrap) policy_.bind_ro.push_back(stage.programs());
}

Observation Confined::run(const Row& row, const std::string& channel) {
  current_ = policy_;
  current_.wall_clock = std::min(current_.wall_clock.value_or(run_time_max), run_time_max);
  if (row.tighten != nullptr) row.tighten(current_);
  channel_ = channel;
  const std::string attempt(row.name);
  switch (row.scenario) {
    case Scenario::report:
    case Scenario::endless:
    case Scenario::ignores_term:
      return once(attempt);
    case Scenario::left_behind:
      return left_behind(attempt);
    case Scenario::supervisor_killed:
      return supervisor_killed(attempt);
    case Scenario::supervisor_killed_early:
      return supervisor_killed_early(attempt);
    case Scenario::seen_by_second:
      return seen_by_second(attempt);
    case Scenario::seen_by_first:
      return seen_by_first(attempt);
  }
  return {};
}

kernel::Result<std::unique_ptr<Run>> Confined::start_run(const std::vector<std::string>& argv,
                                                         kernel::RunOptions options, int number) {
  if (zygotes_ == nullptr)
    return sandbox_.start(current_, argv, "", next_run_name(), std::move(options));
  kernel::ZygoteLine* const zygote = TRY(zygotes_->ready(current_, number));
  lines_.at(static_cast<std::size_t>(number)) = zygote;
  return sandbox_.start_warm(*zygote, current_, executed_by_fork(argv), next_run_name(),
                             std::move(options));
}

// As whoever owns zygotes has to: the network namespace of one is shared until it is used.
SandboxResult Confined::result_of(Run& run, int number) {
  if (zygotes_ != nullptr && !run.left_network_alone())
    lines_.at(static_cast<std::size_t>(number))->network_is_used = true;
  return run.take_result();
}

std::optional<Confined::Live> Confined::start(const std::string& attempt, Observation& failure,
                                              int number) {
  Live live{nullptr, std::make_shared<std::string>()};
  kernel::RunOptions options;
  options.on_output = [output = live.output](kernel::Stream, std::string_view piece) {
    if (output->size() < 4096) output->append(piece);
  };
  const std::string tmpfs = current_.use_bubblewrap ? "/tmp" : "/dev/shm";
  std::vector<std::string> argv = stage_.arguments(Side::canary, tmpfs, channel_);
  argv.insert(argv.begin(), {stage_.attempt(), attempt});
  auto run = start_run(argv, std::move(options), number);
  if (!run) {
    failure = {Kind::unclear, "", run.error().message};
    return std::nullopt;
  }
  live.run = std::move(*run);
  return live;
}

Observation Confined::once(const std::string& attempt) {
  Observation failure;
  auto live = start(attempt, failure);
  if (!live) return failure;
  kernel::drive(*live->run);
  return observe_whole(result_of(*live->run, 0));
}

bool Confined::anything_left() const {
  return !processes_of(stage_.attempt(), [this](pid_t pid) {
            return stage_.is_helper(pid);
          }).empty();
}

Observation Confined::left_behind(const std::string& attempt) {
  Observation seen = once(attempt);
  if (seen.kind != Kind::succeeded) return seen;
  if (anything_left()) return {Kind::succeeded, "", "processes outlived the run"};
  return {Kind::stopped, "gone", ""};
}

// A supervisor of its own for this one run. Closes its end of `at_work` when it ends, and writes to
// it once the attempt is at work; if it has a zygote of its own, also once that is ready.
pid_t Confined::fork_supervisor(const std::string& attempt, kernel::Pipe& at_work) {
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    Observation failure;
    if (zygotes_ != nullptr) {
      zygotes_->forget();
      if (!zygotes_->ready(current_, 0)) ::_exit(1);
      if (::write(at_work.write_end.get(), "z", 1) != 1) ::_exit(1);
    }
    auto live = start(attempt, failure);
    if (!live) ::_exit(1);
    drive_together({live->run.get()}, [&] { return !live->output->empty(); });
    [[maybe_unused]] const ssize_t told = ::write(at_work.write_end.get(), "x", 1);
    kernel::drive(*live->run);
    ::_exit(0);
  }
  at_work.write_end.close();
  return supervisor;
}

// What is killed early is a run's start, not its zygote's.
bool Confined::await_zygote(const kernel::Pipe& at_work) const {
  char byte = 0;
  return zygotes_ == nullptr || ::read(at_work.read_end.get(), &byte, 1) == 1;
}

Observation Confined::look_for_orphans() const {
  for (int i = 0; i < 2000; ++i) {
    if (reap_and_see_none(stage_, zygotes_) && !anything_left()) return {Kind::stopped, "gone", ""};
    std::this_thread::sleep_for(milliseconds(1));
  }
  return {Kind::succeeded, "", "processes outlived the supervisor"};
}

Observation Confined::supervisor_killed(const std::string& attempt) {
  auto at_work = kernel::make_pipe();
  if (!at_work) return {Kind::unclear, "", at_work.error().message};
  const pid_t supervisor = fork_supervisor(attempt, *at_work);
  char byte = 0;
  if (!await_zygote(*at_work)) return {Kind::unclear, "", "there was no zygote"};
  const ssize_t count = ::read(at_work->read_end.get(), &byte, 1);
  ::kill(supervisor, SIGKILL);
  Observation seen = look_for_orphans();
  if (count != 1) return {Kind::unclear, "", "the attempt was never at work"};
  return seen;
}

Observation Confined::supervisor_killed_early(const std::string& attempt) {
  for (int delay_ms = 0; delay_ms < 24; delay_ms += 2) {
    auto at_work = kernel::make_pipe();
    if (!at_work) return {Kind::unclear, "", at_work.error().message};
    const pid_t supervisor = fork_supervisor(attempt, *at_work);
    if (!await_zygote(*at_work)) return {Kind::unclear, "", "there was no zygote"};
    std::this_thread::sleep_for(milliseconds(delay_ms));
    ::kill(supervisor, SIGKILL);
    Observation seen = look_for_orphans();
    if (seen.word != "gone") return seen;
  }
  return {Kind::stopped, "gone", ""};
}

Observation Confined::seen_by_second(const std::string& attempt) {
  Observation failure;
  auto first = start(attempt + "_hold", failure);
  if (!first) return failure;
  const auto ready = [&] { return first->output->find('\n') != std::string::npos; };
  drive_together({first->run.get()}, ready);
  if (first->output->find("ready") == std::string::npos) {
    kernel::drive(*first->run);
    return observe_whole(result_of(*first->run, 0));
  }
  auto second = start(attempt, failure, 1);
  if (second) {
    drive_together({first->run.get(), second->run.get()}, [&] { return second->run->finished(); });
    failure = observe_whole(result_of(*second->run, 1));
  }
  first->run->kill();
  kernel::drive(*first->run);
  result_of(*first->run, 0);
  return failure;
}

Observation Confined::seen_by_first(const std::string& attempt) {
  Observation failure;
  auto first = start(attempt, failure);
  if (!first) return failure;
  const auto spoken = [&] { return first->output->find('\n') != std::string::npos; };
  drive_together({first->run.get()}, spoken);
  if (first->output->find("ready") != std::string::npos) {
    auto second = start(attempt + "_touch", failure, 1);
    if (second) {
      drive_together({first->run.get(), second->run.get()}, [] { return false; });
      result_of(*second->run, 1);
    }
  }
  kernel::drive(*first->run);
  return observe_whole(result_of(*first->run, 0));
}

}  // namespace paddock::escapes
