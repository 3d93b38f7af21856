// Goal: the body of a verify request is items within their bounds, each or a reason why it is none,
// or is refused with a reason. Method: hashes are made again from what was read; tests for a judge,
// which only the judge reads, are put into a request as they were printed and must be read as the
// same tests again.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "fuzz/property.hpp"
#include "kernel/base/hash.hpp"
#include "supervisor/json/encoding.hpp"
#include "supervisor/verify/parse_items.hpp"
#include "supervisor/verify/parse_tests.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using fuzz::must_hold;
using nlohmann::json;

namespace {

constexpr std::size_t reason_bytes_max = 8192;

bool is_label(const std::string& text) {
  return !text.empty() && text.size() <= id_bytes_max && is_utf8(text) &&
         std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; });
}

void check_reason(const std::string& why) {
  must_hold(!why.empty() && why.size() <= reason_bytes_max, "a mistake has a reason", why);
}

void check_stdio(const Item& item, const StdioTests& tests) {
  must_hold(item.integrity == Integrity::stdio, "the daemon compares what a program writes");
  must_hold(!tests.cases.empty() && tests.cases.size() <= cases_max, "its cases are bounded");
  for (const StdioCase& each : tests.cases) {
    must_hold(each.stdin_bytes.size() <= kernel::stdin_bytes_max, "a case's input is a run's");
    must_hold(each.checker.kind != Checker::Kind::floating ||
                  (each.checker.epsilon >= 0 && each.checker.epsilon <= 1e308),
              "an epsilon is a number");
  }
}

std::string request_of(const VerifyRequest& request, const Item& item, const std::string& tests) {
  return "{\"items\":[{\"id\":" + json(item.id).dump() + ",\"code\":{\"b64\":\"" +
         to_base64(item.code) + "\"},\"integrity\":\"" + std::string(name_of(item.integrity)) +
         "\",\"tests\":" + tests + "}],\"scoring\":\"" + std::string(name_of(request.scoring)) +
         "\",\"stop\":\"" + std::string(name_of(request.stop)) + "\"}";
}

void check_judged(const VerifyRequest& request, const Item& item, const JudgedTests& tests) {
  must_hold(item.integrity != Integrity::stdio, "a judge compares what code returns");
  must_hold(item.language == "python", "a judge speaks Python");
  must_hold(tests.job.size() <= judged_tests_bytes_max && tests.cases <= cases_max,
            "a judge's tests are bounded");
  must_hold(is_utf8(tests.job), "a judge's tests are text");
  must_hold(item.tests_hash ==
                kernel::sha256_hex(tests_hash_text(tests.job, item, request.scoring, request.stop)),
            "the hash is of the tests that the judge gets");
  const std::string text = request_of(request, item, tests.job);
  const auto again = parse_items(text);
  must_hold(again && again->items.size() == 1 && std::holds_alternative<Item>(again->items.front()),
            "printed tests are tests", text);
  const Item& copy = std::get<Item>(again->items.front());
  must_hold(copy.tests == item.tests && copy.tests_hash == item.tests_hash &&
                copy.code_hash == item.code_hash,
            "printed tests are read as themselves", text);
}

void check_item(const VerifyRequest& request, const Item& item) {
  must_hold(is_label(item.id), "an item has an id");
  must_hold(item.group.empty() || is_label(item.group), "a group is an id");
  must_hold(item.nonce.empty() || is_label(item.nonce), "a nonce is an id");
  must_hold(item.code.size() <= kernel::stdin_bytes_max, "code is bounded");
  must_hold(item.code_hash == kernel::sha256_hex(item.code), "the hash is of the code");
  must_hold(!item.limits.wall_clock || item.limits.wall_clock->count() >= 1,
            "a time is at least 1 ms");
  if (const auto* const stdio = std::get_if<StdioTests>(&item.tests)) {
    check_stdio(item, *stdio);
  } else {
    check_judged(request, item, std::get<JudgedTests>(item.tests));
  }
}

void check_request(const VerifyRequest& request) {
  must_hold(!request.items.empty() && request.items.size() <= items_max, "items are bounded");
  must_hold(request.request_id.size() <= request_id_bytes_max, "a request's id is bounded");
  must_hold(!request.deadline || request.deadline->count() >= 1, "a deadline is a time");
  std::set<std::string> ids;
  for (const auto& each : request.items) {
    if (const auto* const refused = std::get_if<RefusedItem>(&each)) {
      check_reason(refused->why);
      must_hold(refused->id.empty() || is_label(refused->id), "a refused item's id is an id");
      continue;
    }
    const Item& item = std::get<Item>(each);
    must_hold(ids.insert(item.id).second, "no two items have one id");
    check_item(request, item);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = parse_items(fuzz::as_text(data, size));
  if (request) {
    check_request(*request);
  } else {
    must_hold(request.error().code == kernel::ErrorCode::invalid_request,
              "it is the client's mistake");
    check_reason(request.error().message);
  }
  return 0;
}
