#include "supervisor/recovery/remains.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <thread>

#include "kernel/base/process_tree.hpp"
#include "supervisor/recovery/launchers.hpp"
#include "supervisor/warm/zygote_name.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Fd;
using Marks = std::vector<kernel::ProcessMark>;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds pause{5};
// What lies deeper comes nearer when its parents are dead.
constexpr int tree_depth_max = 100;

bool has_ended(const Fd& pidfd) {
  pollfd polled{pidfd.get(), POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0;
}

bool send_signal(const Fd& pidfd, int signal) {
  return ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0;
}

// Also false of a zombie that nobody reaps.
bool is_alive(const kernel::ProcessMark& mark) {
  const Fd pidfd = kernel::open_marked(mark);
  return pidfd && !has_ended(pidfd);
}

// A child of `parent` beyond doubt: it is opened first, and its parent read then.
Fd open_child(pid_t child, pid_t parent) {
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const auto stat = kernel::stat_of(child);
  return pidfd && stat && stat->parent == parent && !has_ended(pidfd) ? std::move(pidfd) : Fd();
}

// From the leaves up: whose parent dies moves to a subreaper above, and is found there.
std::size_t kill_children(pid_t parent, int depth) {
  std::size_t killed = 0;
  for (const pid_t child : kernel::children_of(parent)) {
    const Fd pidfd = open_child(child, parent);
    if (!pidfd) continue;
    if (depth < tree_depth_max) killed += kill_children(child, depth + 1);
    if (send_signal(pidfd, SIGKILL)) ++killed;
  }
  return killed;
}

// The root comes last: as long as it lives, what is below it stays below it.
std::size_t kill_tree_of(const kernel::ProcessMark& root) {
  const Fd pidfd = kernel::open_marked(root);
  if (!pidfd || has_ended(pidfd)) return 0;
  std::size_t killed = kill_children(root.pid, 0);
  if (killed == 0 && send_signal(pidfd, SIGKILL)) killed = 1;
  return killed;
}

// What runs now, by real uid.
using ByUid = std::map<uid_t, Marks>;

// One walk for all runs: with hundreds of them, one for each would take longer than there is time.
ByUid processes_of(const std::set<uid_t>& uids) {
  ByUid processes;
  if (uids.empty()) return processes;
  for (const pid_t pid : all_processes()) {
    // The mark comes first: should the pid change hands meanwhile, it is nobody's.
    const auto mark = kernel::mark_of(pid);
    const auto uid = real_uid_of(pid);
    if (mark && uid && uids.contains(*uid)) processes[*uid].push_back(*mark);
  }
  return processes;
}

class Hunt {
 public:
  Hunt(const LeftRun& run, const Reach& reach) : run_(run) {
    const bool has_own_uid = ::geteuid() == 0 && run.host_uid &&
                             reach.host_uids.contains(*run.host_uid) && !run.marks.empty();
    // Held by a supervisor that lives: its runs are none of ours.
    if (!has_own_uid) return;
    auto lease = kernel::HostUidLease::take_this(*run.host_uid, reach.host_uid_locks);
    if (lease) lease_ = std::move(*lease);
  }

  // Whose processes are its own; nothing if that cannot be told.
  std::optional<uid_t> own_uid() const { return lease_ ? run_.host_uid : std::nullopt; }

  void note(const std::map<std::string, Marks>& launchers, const ByUid& processes) {
    const auto named = launchers.find(run_.id);
    named_ = named == launchers.end() ? Marks{} : named->second;
    of_own_uid_.clear();
    const auto own = own_uid() ? processes.find(*own_uid()) : processes.end();
    if (own == processes.end()) return;
    // Younger than the run, or it was there before it had the uid.
    for (const kernel::ProcessMark& mark : own->second)
      if (mark.start_ticks >= run_.marks.front().start_ticks) of_own_uid_.push_back(mark);
  }

  bool has_launcher() const {
    const bool recorded = !run_.marks.empty() && is_alive(run_.marks.front());
    return recorded || std::any_of(named_.begin(), named_.end(), is_alive);
  }

  bool is_gone() const {
    return std::none_of(run_.marks.begin(), run_.marks.end(), is_alive) &&
           std::none_of(named_.begin(), named_.end(), is_alive) &&
           std::none_of(of_own_uid_.begin(), of_own_uid_.end(), is_alive);
  }

  // What was stopped by its agent sees now that its supervisor is gone.
  void wake_launchers() const {
    for (const Marks& marks : {run_.marks, named_})
      for (const kernel::ProcessMark& mark : marks)
        if (const Fd pidfd = kernel::open_marked(mark)) send_signal(pidfd, SIGCONT);
  }

  void kill_pass() {
    for (const kernel::ProcessMark& mark : run_.marks) remains.killed += kill_tree_of(mark);
    for (const kernel::ProcessMark& mark : named_) remains.killed += kill_tree_of(mark);
    for (const kernel::ProcessMark& mark : of_own_uid_) {
      const Fd pidfd = kernel::open_marked(mark);
      if (pidfd && real_uid_of(mark.pid) == run_.host_uid && send_signal(pidfd, SIGKILL))
        ++remains.killed;
    }
  }

  Remains remains;

 private:
  LeftRun run_;
  std::optional<kernel::HostUidLease> lease_;
  Marks named_;
  Marks of_own_uid_;
};

auto is_ours(const Reach& reach) {
  return [&reach](uid_t uid) {
    return uid == ::geteuid() || (::geteuid() == 0 && reach.host_uids.contains(uid));
  };
}

// True if `condition` holds within `time`.
template <class Condition>
bool soon(milliseconds time, const Condition& condition) {
  const auto give_up = steady_clock::now() + time;
  while (!condition()) {
    if (steady_clock::now() >= give_up) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace

std::vector<LeftRun> left_zygotes(const std::string& tag, const Reach& reach) {
  std::vector<LeftRun> left;
  for (const auto& [name, launchers] : launchers_by_run(is_ours(reach)))
    if (is_zygote_of(name, tag))
      left.push_back({.id = name, .marks = {}, .host_uid = std::nullopt});
  return left;
}

std::map<std::string, Remains> end_what_is_left(const std::vector<LeftRun>& left,
                                                const Reach& reach) {
  std::vector<Hunt> hunts;
  hunts.reserve(left.size());
  for (const LeftRun& run : left) hunts.emplace_back(run, reach);
  std::set<uid_t> own_uids;
  for (const Hunt& hunt : hunts)
    if (const auto uid = hunt.own_uid()) own_uids.insert(*uid);
  const auto look = [&] {
    const auto launchers = launchers_by_run(is_ours(reach));
    const ByUid processes = processes_of(own_uids);
    for (Hunt& hunt : hunts) hunt.note(launchers, processes);
  };
  const auto all = [&](auto&& holds) { return std::all_of(hunts.begin(), hunts.end(), holds); };
  if (hunts.empty()) return {};

  look();
  for (const Hunt& hunt : hunts) hunt.wake_launchers();
  soon(reach.patience, [&] { return all([](const Hunt& hunt) { return !hunt.has_launcher(); }); });
  look();
  soon(reach.patience, [&] {
    for (Hunt& hunt : hunts)
      if (!hunt.is_gone()) hunt.kill_pass();
    look();
    return all([](const Hunt& hunt) { return hunt.is_gone(); });
  });

  look();  // what was forked meanwhile is left, too
  std::map<std::string, Remains> remains;
  for (std::size_t i = 0; i < left.size(); ++i) {
    hunts[i].remains.gone = hunts[i].is_gone();
    remains[left[i].id] = hunts[i].remains;
  }
  return remains;
}

}  // namespace paddock::supervisor
