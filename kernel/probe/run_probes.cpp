#include "kernel/probe/run_probes.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <map>
#include <set>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/confine/launcher.hpp"
#include "kernel/probe/ground.hpp"
#include "kernel/run/run_sandboxed.hpp"

namespace paddock::kernel {
namespace {

using Kind = Answer::Kind;

constexpr std::size_t alive_max = 4;

Answer refused(int error) {
  return {.kind = Kind::refused, .number = error};
}

// One run, and the attempts in it.
struct Attempts {
  std::size_t report = 0;  // which report they are for
  ProbeRun kind = ProbeRun::shared;
  SandboxPolicy policy;
  std::vector<const Probe*> probes;
  std::vector<ProbeWords> words;
  std::unique_ptr<Run> run{};
};

ProbeWords command_line(std::vector<std::string> command, const std::vector<ProbeWords>& attempts) {
  for (const ProbeWords& words : attempts) {
    command.insert(command.end(), words.begin(), words.end());
    command.emplace_back("--");
  }
  return command;
}

ProbeRun run_of(const Probe& probe) {
  return probe.run == ProbeRun::survivor ? ProbeRun::shared : probe.run;
}

// How the run itself ended counts where it is what a probe is about.
std::vector<Answer> answers_of(const SandboxResult& result, const Attempts& attempts) {
  std::vector<Answer> answers = parse_answers(result.stdout, attempts.probes.size());
  if (attempts.kind == ProbeRun::memory && result.cause == Cause::memory_limit)
    answers.front() = {.kind = Kind::killed, .number = SIGKILL};
  if (attempts.kind == ProbeRun::wall_clock &&
      (result.cause == Cause::wall_clock || result.cause == Cause::host_overloaded))
    answers.front() = {.kind = Kind::killed, .number = SIGTERM};
  return answers;
}

// Why the answers of a run say nothing; empty: they do.
std::string not_run_because(const SandboxResult& result, ProbeRun kind) {
  switch (result.cause) {
    case Cause::cannot_execute:
    case Cause::cannot_isolate:
    case Cause::tampered:
    case Cause::internal:
    case Cause::shutdown:
    case Cause::daemon_restart:
    case Cause::killed_by_request:
      break;
    case Cause::wall_clock:
    case Cause::host_overloaded:
      if (kind == ProbeRun::wall_clock) return {};
      break;
    case Cause::exited:
    case Cause::signaled:
    case Cause::cpu_limit:
    case Cause::memory_limit:
    case Cause::pids_limit:
    case Cause::file_size_limit:
    case Cause::output_limit:
    case Cause::syscall_denied:
      return {};
  }
  return std::string(name_of(result.cause)) + ": " + result.detail;
}

class Prober {
 public:
  Prober(const Sandbox& sandbox, const std::vector<ProbeTask>& tasks, Fd program,
         std::unique_ptr<ProbeGround> ground)
      : sandbox_(sandbox),
        tasks_(tasks),
        program_(std::move(program)),
        ground_(std::move(ground)),
        confined_(tasks.size()) {
    outcome_.reports.resize(tasks.size());
  }

  Result<ProbeOutcome> run() && {
    for (std::size_t i = 0; i < tasks_.size(); ++i) plan_attempts(i);
    TRY_VOID(try_unconfined());
    try_planted_links();
    try_confined();
    look_for_survivors();
    judge_all();
    return std::move(outcome_);
  }

 private:
  // ---- What is to be tried ----

  std::string left_mark(std::size_t report) const {
    return ground_->target().left_mark + std::to_string(report);
  }

  void plan_attempts(std::size_t report) {
    const ProbeTask& task = tasks_[report];
    for (const ProbeRun kind :
         {ProbeRun::shared, ProbeRun::pids, ProbeRun::memory, ProbeRun::wall_clock}) {
      Attempts attempts{.report = report,
                        .kind = kind,
                        .policy = probe_policy(task.weakened.value_or(task.policy), kind),
                        .probes = {},
                        .words = {}};
      ProbeTarget target = ground_->target();
      target.left_mark = left_mark(report);
      const SandboxPolicy promised = probe_policy(task.policy, kind);
      for (const Probe* probe : task.probes) {
        if (run_of(*probe) != kind) continue;
        attempts.probes.push_back(probe);
        attempts.words.push_back(probe->words(promised, target));
        compare(*probe, attempts.words.back());
      }
      if (!attempts.probes.empty()) waiting_.push_back(std::move(attempts));
    }
  }

  // What the same attempt gives unconfined is asked once, whoever wants to know. What is left
  // behind has another mark each time, and is one attempt all the same.
  static ProbeWords question(const Probe& probe, const ProbeWords& words) {
    return probe.run == ProbeRun::survivor ? ProbeWords{words.front()} : words;
  }

  void compare(const Probe& probe, const ProbeWords& words) {
    if (probe.needs_comparison) unconfined_.try_emplace(question(probe, words));
  }

  // ---- Unconfined ----

  Result<void> try_unconfined() {
    const ProbeTarget& target = ground_->target();
    std::vector<ProbeWords> attempts;
    for (const auto& [asked, answer] : unconfined_) {
      ProbeWords words = asked;
      if (asked.front() == "leave_process") {
        const std::size_t half = target.left_mark.size() / 2;
        words = {asked.front(), target.left_mark.substr(0, half), target.left_mark.substr(half)};
      }
      // The sandbox's own directories have no meaning here; others on the host have.
      if (asked.front() == "fill_directory") words[1] = target.open_directory;
      attempts.push_back(std::move(words));
    }
    UnconfinedProcess process = TRY(UnconfinedProcess::start(
        program_.get(), command_line({"paddock-probe", "below", "try"}, attempts)));
    const std::vector<Answer> answers = parse_answers(process.read_to_end(), attempts.size());
    auto answer = answers.begin();
    for (auto& [asked, stored] : unconfined_) stored = *answer++;
    const auto left = unconfined_.find({"leave_process"});
    if (left != unconfined_.end()) {
      const std::set<std::string> alive = end_what_is_left();
      left->second = what_became_of(target.left_mark, left->second, alive);
    }
    return {};
  }

  // The marks of the processes that attempts have left and nobody has ended until now.
  std::set<std::string> end_what_is_left() const {
    std::set<std::string> marks;
    for (const MarkedProcess& process : processes_marked(ground_->target().left_mark)) {
      ::kill(process.pid, SIGKILL);
      ::waitpid(process.pid, nullptr,
                0);  // it may have come to this process; else this does nothing
      marks.insert(process.mark);
    }
    return marks;
  }

  static Answer what_became_of(const std::string& mark, const Answer& left,
                               const std::set<std::string>& alive) {
    if (left.kind != Kind::done) return left;
    return alive.contains(mark) ? Answer{.kind = Kind::done} : refused(ESRCH);
  }

  // ---- CVE-2026-87766 ----

  void try_planted_links() {
    const auto asks = [](const Probe* probe) { return probe->run == ProbeRun::no_run; };
    bool asked = false;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!std::any_of(tasks_[i].probes.begin(), tasks_[i].probes.end(), asks)) continue;
      if (!asked) try_bubblewrap_alone();
      asked = true;
      planted_[i] = try_planted_link(tasks_[i].policy);
    }
  }

  // The call that made directories on the host, without paddock around it.
  void try_bubblewrap_alone() {
    if (sandbox_.host().bubblewrap.empty()) return;
    ground_->plant("/oldroot");
    auto process = UnconfinedProcess::start(
        -1, {sandbox_.host().bubblewrap, "--unshare-user", "--ro-bind", "/usr", "/usr", "--bind",
             ground_->planted_directory(), "/planted", "--tmpfs", "/planted/link/made", "--",
             "/nothing/to/execute"});
    if (!process) return;
    process->read_to_end();
    outcome_.bubblewrap_follows_links = ground_->was_reached();
    ground_->clear_reached();
  }

  // What paddock makes of a policy that would lead there: refused when it is checked, and should a
  // link be planted after that, when it is started.
  Answer try_planted_link(const SandboxPolicy& policy) {
    ground_->plant("");
    SandboxPolicy planted = probe_policy(policy, ProbeRun::shared);
    planted.bind_rw.push_back(ground_->planted_directory());
    planted.bind_ro.push_back(ground_->planted_link() + "/made");
    if (check_policy(planted)) return {.kind = Kind::done};
    auto run = sandbox_.start(planted, {program_path, "try"}, "", name(), {.program = program()});
    if (run) {
      drive(**run);
      if ((*run)->take_result().cause == Cause::exited) return {.kind = Kind::done};
    }
    const bool reached = ground_->was_reached();
    ground_->clear_reached();
    return reached ? Answer{.kind = Kind::done} : refused(EPERM);
  }

  // ---- Confined ----

  int program() const { return program_.get(); }

  // Like every run's: a leaf that is left behind is found by it.
  static std::string name() { return "r-" + random_word(); }

  void try_confined() {
    while (!waiting_.empty() || !alive_.empty()) {
      while (!waiting_.empty() && alive_.size() < alive_max && start_next()) {
      }
      turn();
      collect();
    }
  }

  // False if others have to end first.
  bool start_next() {
    Attempts& next = waiting_.front();
    auto run = sandbox_.start(next.policy, command_line({program_path, "try"}, next.words), "",
                              name(), {.program = program()});
    if (!run && run.error().code == ErrorCode::too_busy && !alive_.empty()) return false;
    if (run) {
      next.run = std::move(*run);
      alive_.push_back(std::move(next));
    } else {
      outcome_.reports[next.report].not_run = run.error().message;
    }
    waiting_.pop_front();
    return true;
  }

  void turn() {
    std::vector<pollfd> polled;
    std::optional<Clock::time_point> next;
    for (const Attempts& attempts : alive_) {
      for (const Run::Watch& watch : attempts.run->watches())
        polled.push_back({watch.fd, watch.events, 0});
      const auto time = attempts.run->next_time();
      if (time && (!next || *time < *next)) next = time;
    }
    if (polled.empty() && !next) return;
    ::poll(polled.data(), polled.size(), milliseconds_until(next));
    for (const Attempts& attempts : alive_) {
      attempts.run->on_time();
      for (const pollfd& entry : polled)
        if (entry.revents != 0 && !attempts.run->finished()) attempts.run->on_ready(entry.fd);
    }
    for (const Attempts& attempts : alive_) attempts.run->release();
  }

  void collect() {
    for (auto attempts = alive_.begin(); attempts != alive_.end();) {
      if (attempts->run->finished()) {
        note(*attempts, attempts->run->take_result());
        attempts = alive_.erase(attempts);
      } else {
        ++attempts;
      }
    }
  }

  void note(const Attempts& attempts, const SandboxResult& result) {
    std::string& not_run = outcome_.reports[attempts.report].not_run;
    if (not_run.empty()) not_run = not_run_because(result, attempts.kind);
    const std::vector<Answer> answers = answers_of(result, attempts);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Probe& probe = *attempts.probes[i];
      Confined& confined = confined_[attempts.report][&probe];
      confined.answer = answers[i];
      if (probe.needs_comparison)
        confined.unconfined = unconfined_.at(question(probe, attempts.words[i]));
    }
  }

  // ---- The end ----

  Answer bubblewrap_alone() const {
    const auto& follows = outcome_.bubblewrap_follows_links;
    if (!follows)
      return {.kind = Kind::cannot, .number = 0, .why = "there is no bubblewrap to try it with"};
    return *follows ? Answer{.kind = Kind::done} : refused(EPERM);
  }

  // One look for all runs: it reads the command line of every process on the host.
  void look_for_survivors() {
    const std::set<std::string> alive = end_what_is_left();
    for (std::size_t i = 0; i < confined_.size(); ++i)
      for (auto& [probe, confined] : confined_[i])
        if (probe->run == ProbeRun::survivor)
          confined.answer = what_became_of(left_mark(i), confined.answer, alive);
  }

  void judge_all() {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      ProbeReport& report = outcome_.reports[i];
      if (!report.not_run.empty()) continue;
      for (const Probe* probe : tasks_[i].probes) {
        const Confined seen = probe->run == ProbeRun::no_run
                                  ? Confined{bubblewrap_alone(), planted_[i]}
                                  : confined_[i][probe];
        report.results.push_back({.name = std::string(probe->name),
                                  .control = std::string(probe->control),
                                  .verdict = judge(*probe, seen.unconfined, seen.answer),
                                  .unconfined = to_string(seen.unconfined),
                                  .confined = to_string(seen.answer)});
      }
    }
  }

  struct Confined {
    Answer unconfined{};
    Answer answer{};
  };

  const Sandbox& sandbox_;
  const std::vector<ProbeTask>& tasks_;
  Fd program_;
  std::unique_ptr<ProbeGround> ground_;
  std::map<ProbeWords, Answer> unconfined_;
  std::deque<Attempts> waiting_;
  std::vector<Attempts> alive_;
  std::vector<std::map<const Probe*, Confined>> confined_;
  std::map<std::size_t, Answer> planted_;
  ProbeOutcome outcome_;
};

}  // namespace

ProbeTask task_for(const Sandbox& sandbox, const SandboxPolicy& policy) {
  return {.policy = policy,
          .probes = probes_for({.policy = policy,
                                .host = sandbox.host(),
                                .controllers = sandbox.uses_cgroup(policy)
                                                   ? sandbox.cgroup().base->controllers
                                                   : std::vector<std::string>{}})};
}

Result<ProbeOutcome> run_probes(const Sandbox& sandbox, const std::vector<ProbeTask>& tasks) {
  Fd program = TRY(open_prober());
  auto ground = TRY(ProbeGround::prepare(program.get()));
  return Prober(sandbox, tasks, std::move(program), std::move(ground)).run();
}

}  // namespace paddock::kernel
