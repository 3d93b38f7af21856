#pragma once
// ItemAnswer: what a client is told about one item. Plain data.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/verify/item.hpp"

namespace paddock::supervisor {

enum class Verdict { pass, fail, invalid };

std::string_view name_of(Verdict verdict);  // "pass"
std::optional<Verdict> verdict_named(std::string_view name);

struct CaseAnswer {
  bool passed = false;
  std::string cause;              // "passed", "wrong_answer": the table of RFC 0010
  std::string detail;             // for people; empty if there is nothing to say
  std::optional<double> cpu_ms;   // absent: the host cannot tell
  std::optional<double> wall_ms;  // absent: it did not run

  bool operator==(const CaseAnswer&) const = default;
};

struct ItemAnswer {
  std::string id;
  std::string group;
  Verdict verdict = Verdict::invalid;
  std::optional<double> reward;  // absent if and only if invalid
  std::uint64_t passed = 0;
  std::uint64_t total = 0;
  std::vector<CaseAnswer> cases;
  std::string cause;
  std::string detail;
  Integrity integrity = Integrity::separate;
  std::string profile;
  std::vector<std::string> degraded;
  std::uint64_t queue_ms = 0;
  std::uint64_t run_ms = 0;
  std::string stdout_tail;  // the last 4 KiB, bytes
  std::string stderr_tail;
  bool cached = false;
  std::string code_hash;
  std::string tests_hash;
  std::string policy_hash;
  std::string nonce;
  std::vector<std::string> runs;  // the candidate's first
  std::string cold_because;       // of runs that were to be warm; not in the MAC
  bool by_known_answers = false;  // it has no judge's run; not in the MAC
  std::string mac;                // hex; empty: the tenant has no key
  std::string key_id;

  bool operator==(const ItemAnswer&) const = default;
};

// An item without a number, and why.
ItemAnswer invalid_answer(const Item& item, std::string cause, std::string detail);
ItemAnswer refused_answer(const RefusedItem& item);

// The object of RFC 0010 on one line, without a newline.
std::string answer_to_json(const ItemAnswer& answer);
// What answer_to_json wrote, for answers out of the ledger. Fails with not_recorded.
kernel::Result<ItemAnswer> answer_from_json(std::string_view text);

// One group of one request whose items are all answered.
struct GroupAnswer {
  std::string request_id;
  std::string group;
  std::vector<std::string> ids;                // in the order of the request
  std::vector<std::optional<double>> rewards;  // of the same items

  bool operator==(const GroupAnswer&) const = default;
};

// {"request_id": ..., "group": ..., "ids": [...], "rewards": [...]} on one line.
std::string group_to_json(const GroupAnswer& group);

}  // namespace paddock::supervisor
