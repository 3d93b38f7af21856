#include "escapes/runner/zygotes.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "escapes/runner/confined.hpp"
#include "kernel/run/run_sandboxed.hpp"

namespace paddock::escapes {
namespace {

using kernel::Run;
using kernel::StartedZygote;
using Clock = std::chrono::steady_clock;

const kernel::ZygoteProgram program{
    .interpreter = {"python3", "-I"}, .modules = {"os", "signal"}, .programs = {}};
constexpr std::chrono::seconds ready_time_max{20};

// Python itself ignores these; what it executes shall not.
constexpr const char* executing =
    "import os, signal, sys\n"
    "for name in ('SIGPIPE', 'SIGXFSZ'):\n"
    "    signal.signal(getattr(signal, name), signal.SIG_DFL)\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n";

// Whatever is to be told to it or by it now.
void drive_once(Run& run, int wait_ms) {
  std::vector<pollfd> polled;
  for (const Run::Watch& watch : run.watches()) polled.push_back({watch.fd, watch.events, 0});
  ::poll(polled.data(), polled.size(), wait_ms);
  for (const pollfd& entry : polled)
    if (entry.revents != 0 && !run.finished()) run.on_ready(entry.fd);
  if (!run.finished()) run.on_time();
  run.release();
}

void end(StartedZygote& zygote) {
  zygote.run->kill();
  kernel::drive(*zygote.run);
}

}  // namespace

std::vector<std::string> executed_by_fork(const std::vector<std::string>& argv) {
  std::vector<std::string> words = program.interpreter;
  words.insert(words.end(), {"-c", executing});
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

Zygotes::~Zygotes() {
  for (auto& [key, zygote] : zygotes_) end(zygote);
}

kernel::Result<kernel::ZygoteLine*> Zygotes::ready(const kernel::SandboxPolicy& policy,
                                                   int number) {
  const std::string why = kernel::why_cold(policy, executed_by_fork({"true"}), program);
  if (!why.empty()) return kernel::fail(kernel::ErrorCode::sandbox_policy_error, why);
  const std::string key = kernel::zygote_key(policy, program) + std::to_string(number);
  const auto found = zygotes_.find(key);
  if (found != zygotes_.end()) {
    drive_once(*found->second.run, 0);
    if (!found->second.run->finished()) return &found->second.line;
    zygotes_.erase(found);
  }
  StartedZygote zygote = TRY(start(policy));
  return &zygotes_.emplace(key, std::move(zygote)).first->second.line;
}

kernel::Result<StartedZygote> Zygotes::start(const kernel::SandboxPolicy& policy) {
  char name[32];
  std::snprintf(name, sizeof name, "z-%08x%08x", static_cast<unsigned>(::getpid()),
                static_cast<unsigned>(++started_));
  StartedZygote zygote = TRY(sandbox_.start_zygote(policy, program, name));
  for (const auto deadline = Clock::now() + ready_time_max;;) {
    const auto says = kernel::zygote_says_ready(zygote.line);
    if (says && *says) return zygote;
    if (!says || zygote.run->finished() || Clock::now() > deadline) break;
    drive_once(*zygote.run, 5);
  }
  if (!zygote.run->finished()) end(zygote);
  const kernel::SandboxResult result = zygote.run->take_result();
  return kernel::fail(kernel::ErrorCode::internal,
                      "no zygote: " + result.detail + " " + result.stderr);
}

bool Zygotes::is_one(pid_t pid) const {
  return std::any_of(zygotes_.begin(), zygotes_.end(),
                     [&](const auto& entry) { return entry.second.run->launcher() == pid; });
}

int Zygotes::count_lost() {
  int lost = 0;
  for (auto at = zygotes_.begin(); at != zygotes_.end();) {
    drive_once(*at->second.run, 0);
    const bool gone = at->second.run->finished();
    if (gone) ++lost;
    at = gone ? zygotes_.erase(at) : std::next(at);
  }
  return lost;
}

// Neither ended nor closed: that would be felt by its parent's.
void Zygotes::forget() {
  new std::map<std::string, StartedZygote>(std::move(zygotes_));
  zygotes_.clear();
}

}  // namespace paddock::escapes
