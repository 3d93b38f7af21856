#include "supervisor/recovery/recover.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <set>

#include "kernel/confine/cgroup.hpp"
#include "kernel/confine/cgroup_files.hpp"
#include "kernel/run/workspace.hpp"
#include "supervisor/config/paths.hpp"
#include "supervisor/ledger/file_names.hpp"
#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/lock_file.hpp"
#include "supervisor/recovery/sockets.hpp"
#include "supervisor/warm/zygote_name.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Result;

struct Unfinished {
  std::vector<UnfinishedRun> runs;
  std::set<std::string> leaves;  // of those that had one, as /proc showed them
};

Result<Unfinished> read_unfinished(LedgerReader& reader) {
  Unfinished unfinished;
  for (RunRow& row : TRY(reader.unfinished_runs())) {
    UnfinishedRun run{.row = std::move(row), .host_uid = std::nullopt};
    const auto stored = TRY(reader.run(run.row.id));
    for (const StoredEvent& event : stored ? stored->events : std::vector<StoredEvent>()) {
      if (event.event.kind != "run.running") continue;
      run.host_uid = recorded_host_uid(event.event.body);
      if (auto leaf = recorded_leaf(event.event.body, run.row.id))
        unfinished.leaves.insert(std::move(*leaf));
    }
    unfinished.runs.push_back(std::move(run));
  }
  return unfinished;
}

// Where leaves of the killed daemon can be: below the base that is in use now, and below those that
// the ledger tells of. There cgroup2 is mounted at the usual places.
std::vector<kernel::CgroupBase> bases_of(const std::optional<kernel::CgroupBase>& base,
                                         const std::set<std::string>& leaves) {
  std::set<std::string> paths;
  if (base) paths.insert(base->path);
  for (const std::string& leaf : leaves)
    for (const std::string mounted : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
      if (const std::string path = mounted + leaf.substr(0, leaf.rfind('/'));
          kernel::is_on_cgroup2(path))
        paths.insert(path);
  std::vector<kernel::CgroupBase> bases;
  for (const std::string& path : paths) bases.push_back({.path = path});
  return bases;
}

std::string boot_id() {
  const auto self = kernel::mark_of(::getpid());
  return self ? self->boot_id : "";
}

// The report's `unrecorded` is what is to be recorded.
RecoveryReport end_all(const Unfinished& unfinished, const RecoveryOptions& options) {
  const auto bases = bases_of(options.cgroup_base, unfinished.leaves);
  // First, since it is certain and at once; a frozen leaf's launchers do not end by themselves.
  for (const kernel::CgroupBase& base : bases) kernel::sweep_leaves(base);
  std::vector<LeftRun> all = what_can_be_left(unfinished.runs, boot_id());
  for (LeftRun& zygote : left_zygotes(zygote_tag(options.ledger), options.reach))
    all.push_back(std::move(zygote));
  const auto remains = end_what_is_left(all, options.reach);

  RecoveryReport report;
  const auto now = std::chrono::system_clock::now();
  for (const UnfinishedRun& run : unfinished.runs) {
    const auto found = remains.find(run.row.id);
    const Remains left = found == remains.end() ? Remains{} : found->second;
    report.unrecorded.push_back(restart_transition(run.row, left, now));
    report.runs.push_back({.id = run.row.id, .state = run.row.state, .remains = left});
  }

  for (const kernel::CgroupBase& base : bases) kernel::sweep_leaves(base);
  kernel::Workspace::sweep();
  for (const std::string& socket : {main_socket_path(options.runtime_directory),
                                    trainer_socket_path(options.runtime_directory)})
    if (remove_stale_socket(socket)) report.sockets.push_back(socket);
  return report;
}

void record(LedgerWriter& writer, RecoveryReport& report) {
  if (report.unrecorded.empty()) return;
  auto recorded = writer.apply(report.unrecorded);
  if (!recorded && writer.is_full()) {
    writer.release_reserve();
    recorded = writer.apply(report.unrecorded);
  }
  if (recorded) {
    report.unrecorded.clear();
  } else {
    report.problem = recorded.error().message;
  }
}

}  // namespace

Result<RecoveryReport> recover(LedgerWriter& writer, const RecoveryOptions& options) {
  LedgerReader reader = TRY(LedgerReader::open(options.ledger));
  RecoveryReport report = end_all(TRY(read_unfinished(reader)), options);
  record(writer, report);
  return report;
}

Result<RecoveryReport> recover_without_writing(const kernel::Error& problem,
                                               const RecoveryOptions& options) {
  const tl::unexpected<kernel::Error> unopened(problem);
  const auto lock = LockFile::acquire(lock_path(options.ledger));
  if (!lock) return unopened;
  auto reader = LedgerReader::open(options.ledger);
  if (!reader) reader = LedgerReader::open_alone(options.ledger);
  if (!reader) return unopened;
  const auto unfinished = read_unfinished(*reader);
  if (!unfinished) return unopened;
  RecoveryReport report = end_all(*unfinished, options);
  report.problem = problem.message;
  return report;
}

std::string summary_of(const RecoveryReport& report) {
  if (report.runs.empty()) return {};
  std::size_t killed = 0;
  std::size_t left = 0;
  for (const RecoveredRun& run : report.runs) {
    killed += run.remains.killed;
    if (!run.remains.gone) ++left;
  }
  std::string text = fmt::format(
      "{} runs of the last daemon had no outcome: daemon_restart; {} of their processes had to be "
      "killed",
      report.runs.size(), killed);
  if (left > 0) text += fmt::format("; of {} runs some could not be", left);
  if (!report.problem.empty()) text += "; not recorded yet: " + report.problem;
  return text;
}

}  // namespace paddock::supervisor
