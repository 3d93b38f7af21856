#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::fail:
      return "fail";
    case Verdict::invalid:
      return "invalid";
  }
  return "invalid";
}

std::optional<Verdict> verdict_named(std::string_view name) {
  for (const Verdict verdict : {Verdict::pass, Verdict::fail, Verdict::invalid})
    if (name == name_of(verdict)) return verdict;
  return std::nullopt;
}

ItemAnswer invalid_answer(const Item& item, std::string cause, std::string detail) {
  ItemAnswer answer;
  answer.id = item.id;
  answer.group = item.group;
  answer.cause = std::move(cause);
  answer.detail = std::move(detail);
  answer.integrity = item.integrity;
  answer.code_hash = item.code_hash;
  answer.tests_hash = item.tests_hash;
  answer.nonce = item.nonce;
  return answer;
}

ItemAnswer refused_answer(const RefusedItem& item) {
  ItemAnswer answer;
  answer.id = item.id;
  answer.group = item.group;
  answer.cause = "invalid_request";
  answer.detail = item.why;
  return answer;
}

}  // namespace paddock::supervisor
