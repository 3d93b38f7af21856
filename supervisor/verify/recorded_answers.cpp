#include "supervisor/verify/recorded_answers.hpp"

#include <utility>

namespace paddock::supervisor {
namespace {

using kernel::Result;

Result<RecordedAnswers> read(LedgerReader& reader, const RecordedQuestion& question) {
  RecordedAnswers recorded;
  if (!question.request_id.empty()) {
    for (VerdictRow& row : TRY(reader.verdicts_of(question.tenant, question.request_id)))
      recorded.answers.emplace(std::move(row.item), std::move(row.answer));
    recorded.groups = TRY(reader.groups_of(question.tenant, question.request_id));
  }
  recorded.nonces = TRY(reader.nonces_seen(question.tenant, question.nonces));
  return recorded;
}

}  // namespace

LookUpRecorded look_up_in(Ledger& ledger) {
  return [&ledger](RecordedQuestion question,
                   std::function<void(Result<RecordedAnswers>)> on_answer) {
    ledger.read<RecordedAnswers>(
        [question = std::move(question)](LedgerReader& reader) { return read(reader, question); },
        std::move(on_answer));
  };
}

}  // namespace paddock::supervisor
