#include "supervisor/verify/in_process_item.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "supervisor/verify/commands.hpp"
#include "supervisor/verify/judge_job.hpp"
#include "supervisor/verify/judge_report.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Fd;
using kernel::Result;

// Of a size that the run cannot change: what it does not write stays zero, and takes no memory.
Result<Fd> make_report_file() {
  Fd fd(::memfd_create("paddock-report", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return kernel::fail_errno("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(judge_report_bytes_max)) != 0)
    return kernel::fail_errno("size a memory file");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return kernel::fail_errno("seal a memory file");
  return fd;
}

Result<std::string> read_report(const Fd& fd) {
  std::string text(judge_report_bytes_max, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count =
        ::pread(fd.get(), text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return kernel::fail_errno("read a report");
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(std::min(text.find('\0'), size));
  return text;
}

}  // namespace

InProcessItem::InProcessItem(uv_loop_t* loop, RunTable& runs, ResolvedItem item, OnOver on_over)
    : item_(std::move(item)), on_over_(std::move(on_over)), run_(loop, runs), over_timer_(loop) {}

void InProcessItem::start() {
  auto report = make_report_file();
  if (!report) {
    over_timer_.start(std::chrono::milliseconds(0), [this, why = report.error().message] {
      on_over_({.judgement = {.fault = Fault{.cause = "internal", .detail = why}, .cases = {}},
                .degraded = {},
                .stdout_tail = {},
                .stderr_tail = {}});
    });
    return;
  }
  report_ = std::make_shared<Fd>(std::move(*report));
  ResolvedRun run;
  run.policy = *item_.candidate_policy;
  run.argv = in_process_command().argv;
  run.recorded = in_process_command().recorded;
  run.tenant = item_.tenant;
  run.is_canary = item_.is_canary;
  run.stdin_bytes =
      in_process_job(item_.item.code, std::get<JudgedTests>(item_.item.tests), item_.stop);
  run.channel = report_;
  run.warm = item_.candidate_warm;
  item_.item.code = {};
  run_.start(
      std::move(run), [this] { slot_at_ = kernel::Clock::now(); }, [this] { over(); });
}

void InProcessItem::stop(const std::string& reason) {
  run_.stop(reason);
}

std::vector<RunId> InProcessItem::runs() const {
  if (run_.id().empty()) return {};
  return {run_.id()};
}

void InProcessItem::over() {
  JudgedItem judged{.judgement = {.fault = run_.fault(), .cases = {}},
                    .degraded = run_.degraded(),
                    .stdout_tail = run_.stdout_tail(),
                    .stderr_tail = run_.stderr_tail(),
                    .cold_because = {}};
  if (!run_.cold_because().empty()) judged.cold_because = "candidate: " + run_.cold_because();
  if (const auto end = run_.end()) {
    const auto text = read_report(*report_);
    const auto report = text ? parse_judge_report(*text)
                             : Result<JudgeReport>(tl::unexpected<kernel::Error>(text.error()));
    judged.judgement =
        judgement_in_process(*end, report, std::get<JudgedTests>(item_.item.tests).cases);
  }
  on_over_(std::move(judged));
}

}  // namespace paddock::supervisor
