#include "supervisor/verify/answer_finder.hpp"

#include <utility>

#include "supervisor/runs/host_fault.hpp"
#include "supervisor/verify/commands.hpp"
#include "supervisor/verify/judge_job.hpp"

namespace paddock::supervisor {
namespace {

// What the judge printed. nullptr also where the tests took too long or ended it, as they would
// another time. A fault of the host would not be there again, and is an error.
kernel::Result<KnownAnswersPtr> answers_of(const ItemRun& run) {
  if (run.fault()) return kernel::fail(kernel::ErrorCode::internal, run.fault()->detail);
  const kernel::SandboxResult& result = *run.result();
  if (is_host_fault(result.cause)) return kernel::fail(kernel::ErrorCode::internal, result.detail);
  if (result.cause != kernel::Cause::exited || result.exit_code != 0 || result.stdout_truncated)
    return nullptr;
  return parse_known_answers(result.stdout).value_or(nullptr);
}

}  // namespace

AnswerFinder::AnswerFinder(uv_loop_t* loop, RunTable& runs, CacheLimits limits)
    : loop_(loop), runs_(runs), entries_(limits) {}

KnownAnswersPtr AnswerFinder::answers_for(const ResolvedItem& item) {
  if (item.is_canary || item.item.integrity != Integrity::separate) return nullptr;
  const Key key{.tenant = item.tenant, .tests_hash = item.item.tests_hash};
  const Entry* const entry = entries_.find(key);
  if (entry == nullptr) {
    keep(key, {});
  } else if (entry->state == Entry::State::found) {
    return entry->answers;
  } else if (entry->state == Entry::State::seen && finding_.size() < finding_max) {
    find(key, item);
  }
  return nullptr;
}

void AnswerFinder::has_none(const std::string& tenant, const std::string& tests_hash) {
  keep({.tenant = tenant, .tests_hash = tests_hash}, {.state = Entry::State::found});
}

void AnswerFinder::stop(const std::string& reason) {
  for (const auto& [key, run] : finding_) run->stop(reason);
}

void AnswerFinder::keep(const Key& key, Entry entry) {
  std::size_t bytes = 2 * (sizeof key + key.tenant.size() + key.tests_hash.size()) + sizeof entry;
  if (entry.answers) bytes += bytes_of(*entry.answers);
  entries_.put(key, std::move(entry), bytes);
}

void AnswerFinder::find(const Key& key, const ResolvedItem& item) {
  if (finding_.contains(key)) return;
  keep(key, {.state = Entry::State::finding});
  ResolvedRun run;
  run.policy = *item.judge_policy;
  run.policy.wall_clock = finding_time_max;
  run.argv = judge_command().argv;
  run.recorded = judge_command().recorded;
  run.tenant = item.tenant;
  run.stdin_bytes = known_answers_job(std::get<JudgedTests>(item.item.tests), item.stop);
  run.warm = item.judge_warm;
  run.beside_slots = true;
  auto& finding = finding_[key];
  finding = std::make_unique<ItemRun>(loop_, runs_);
  finding->start(std::move(run), {}, [this, key] { found(key); });
}

void AnswerFinder::found(const Key& key) {
  over_ = std::move(finding_.at(key));
  finding_.erase(key);
  auto answers = answers_of(*over_);
  if (answers) {
    keep(key, {.state = Entry::State::found, .answers = std::move(*answers)});
  } else {
    entries_.erase(key);
  }
}

}  // namespace paddock::supervisor
