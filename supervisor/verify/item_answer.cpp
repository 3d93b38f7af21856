#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {

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
