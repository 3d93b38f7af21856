#include "supervisor/ledger/chain.hpp"

#include "kernel/base/hash.hpp"
#include "supervisor/ledger/fields.hpp"

namespace paddock::supervisor {
namespace {

void append_mark(std::string& bytes, const std::optional<kernel::ProcessMark>& mark) {
  append_field(bytes, mark.has_value());
  if (!mark) return;
  append_field(bytes, mark->pid);
  append_field(bytes, mark->start_ticks);
  append_field(bytes, mark->boot_id);
}

}  // namespace

std::string_view name_of(RowKind kind) {
  switch (kind) {
    case RowKind::run:
      return "run";
    case RowKind::policy:
      return "policy";
    case RowKind::agent:
      return "agent";
    case RowKind::budget:
      return "budget";
    case RowKind::verdict:
      return "verdict";
  }
  return "";
}

std::string key_of(const BudgetRow& row) {
  std::string key;
  append_field(key, row.agent);
  append_field(key, row.dimension);
  return key;
}

WrittenRow written(const RunRow& row) {
  std::string bytes;
  for (const std::string* text : {&row.id, &row.state, &row.tenant, &row.profile, &row.agent,
                                  &row.parent, &row.policy_hash, &row.cause, &row.degraded})
    append_field(bytes, *text);
  for (const std::int64_t number : {row.created_us, row.started_us, row.ended_us, row.exit_code})
    append_field(bytes, number);
  for (const std::uint64_t number : {row.cpu_us, row.wall_us, row.max_rss_bytes, row.written_bytes})
    append_field(bytes, number);
  append_mark(bytes, row.launcher);
  append_mark(bytes, row.agent_process);
  return {RowKind::run, row.id, kernel::sha256_hex(bytes)};
}

WrittenRow written(const PolicyRow& row) {
  std::string bytes;
  append_field(bytes, row.hash);
  append_field(bytes, row.text);
  return {RowKind::policy, row.hash, kernel::sha256_hex(bytes)};
}

WrittenRow written(const AgentRow& row) {
  std::string bytes;
  append_field(bytes, row.name);
  append_field(bytes, row.wanted);
  return {RowKind::agent, row.name, kernel::sha256_hex(bytes)};
}

WrittenRow written(const BudgetRow& row) {
  std::string bytes;
  append_field(bytes, row.agent);
  append_field(bytes, row.dimension);
  append_field(bytes, row.limit);
  append_field(bytes, row.granted);
  append_field(bytes, row.used);
  append_field(bytes, row.warned);
  append_field(bytes, row.breached);
  return {RowKind::budget, key_of(row), kernel::sha256_hex(bytes)};
}

WrittenRow written(const VerdictRow& row, std::uint64_t event_seq) {
  std::string bytes;
  for (const std::string* text : {&row.tenant, &row.request_id, &row.item, &row.nonce, &row.answer})
    append_field(bytes, *text);
  return {RowKind::verdict, std::to_string(event_seq), kernel::sha256_hex(bytes)};
}

std::string encode_rows(const std::vector<WrittenRow>& rows) {
  std::string text;
  for (const WrittenRow& row : rows) {
    append_field(text, name_of(row.kind));
    append_field(text, row.key);
    append_field(text, row.digest);
  }
  return text;
}

std::optional<std::vector<WrittenRow>> decode_rows(std::string_view text) {
  std::vector<WrittenRow> rows;
  while (!text.empty()) {
    const auto name = take_field(text);
    auto key = take_field(text);
    auto digest = take_field(text);
    if (!name || !key || !digest) return std::nullopt;
    bool known = false;
    for (const RowKind kind : row_kinds) {
      if (name_of(kind) != *name) continue;
      rows.push_back({kind, std::move(*key), std::move(*digest)});
      known = true;
      break;
    }
    if (!known) return std::nullopt;
  }
  return rows;
}

std::string event_hash(const std::string& previous_hash, std::uint64_t seq, const Event& event,
                       std::string_view encoded_rows) {
  std::string bytes;
  bytes.reserve(previous_hash.size() + event.body.size() + encoded_rows.size() + 256);
  append_field(bytes, previous_hash);
  append_field(bytes, seq);
  append_field(bytes, to_microseconds(event.at));
  append_field(bytes, event.kind);
  append_field(bytes, event.subject);
  append_field(bytes, event.tenant);
  append_field(bytes, event.body);
  append_field(bytes, encoded_rows);
  return kernel::sha256_hex(bytes);
}

}  // namespace paddock::supervisor
