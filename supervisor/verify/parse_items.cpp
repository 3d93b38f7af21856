#include "supervisor/verify/parse_items.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernel/base/hash.hpp"
#include "supervisor/json/fields.hpp"
#include "supervisor/verify/canonical_json.hpp"
#include "supervisor/verify/label.hpp"
#include "supervisor/verify/parse_tests.hpp"
#include "supervisor/verify/read_document.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::json;

constexpr std::chrono::hours deadline_max{24};

Result<std::string> request_id(const std::string& place, const json& value) {
  std::string id = TRY(json_text(place, value));
  const bool is_plain = std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  if (id.empty() || id.size() > request_id_bytes_max || !is_plain)
    return wrong_value(place, fmt::format("1 to {} of A-Z a-z 0-9 . _ -", request_id_bytes_max));
  return id;
}

Result<std::string> name(const std::string& place, const json& value) {
  return json_label(place, value);
}

Result<Scoring> scoring(const std::string& place, const json& value) {
  return json_choice(place, value, {Scoring::fraction, Scoring::all},
                     [](Scoring each) { return name_of(each); });
}

Result<Stop> stop(const std::string& place, const json& value) {
  return json_choice(place, value, {Stop::all, Stop::first_fail},
                     [](Stop each) { return name_of(each); });
}

Result<Integrity> integrity(const std::string& place, const json& value) {
  return json_choice(place, value, {Integrity::separate, Integrity::stdio, Integrity::in_process},
                     [](Integrity each) { return name_of(each); });
}

Result<std::optional<std::chrono::milliseconds>> batch_deadline(const std::string& place,
                                                                const json& value) {
  const std::chrono::milliseconds most = deadline_max;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(most.count()))
    return wrong_value(place, fmt::format("a whole number from 1 to {}", most.count()));
  return std::chrono::milliseconds(value.get<std::int64_t>());
}

Result<std::string> code(const std::string& place, const json& value) {
  std::string bytes = TRY(json_bytes(place, value));
  if (bytes.size() > kernel::stdin_bytes_max)
    return wrong_value(place, fmt::format("at most {} bytes", kernel::stdin_bytes_max));
  return bytes;
}

Result<void> read_limits(const std::string& place, const json& value, kernel::Request& limits) {
  return read_json_object(
      place, value,
      {json_into("wall_seconds", limits.wall_clock, json_duration),
       json_into("cpu_seconds", limits.cpu_seconds, json_count),
       json_into("memory_bytes", limits.memory_bytes, json_size),
       json_into("fsize_bytes", limits.fsize_bytes, json_size),
       json_into("nproc", limits.nproc, json_count), json_into("nofile", limits.nofile, json_count),
       json_into("output_bytes", limits.output_bytes, json_size)});
}

Result<void> check_integrity(Item& item, const std::optional<Integrity>& wanted) {
  if (std::holds_alternative<StdioTests>(item.tests)) {
    item.integrity = Integrity::stdio;
    if (wanted && *wanted != Integrity::stdio)
      return fail(ErrorCode::invalid_request, "integrity: tests of kind 'stdio' have 'stdio' only");
    return {};
  }
  if (wanted == Integrity::stdio)
    return fail(ErrorCode::invalid_request, "integrity: only tests of kind 'stdio' have 'stdio'");
  item.integrity = wanted.value_or(Integrity::separate);
  if (item.language != "python")
    return fail(ErrorCode::invalid_request,
                "language: tests of kind 'call' and 'assert' are for 'python' only, not for '" +
                    item.language + "'");
  return {};
}

Result<Item> parse_item(const json& value, const VerifyRequest& request) {
  Item item;
  std::optional<Integrity> wanted;
  const JsonField limits{"limits",
                         [&](const std::string& at, const json& object) {
                           return read_limits(at, object, item.limits);
                         },
                         false};
  if (!value.is_object()) return fail(ErrorCode::invalid_request, "an item must be an object");
  TRY_VOID(read_json_object("", value,
                            {json_required(json_into("id", item.id, json_label)),
                             json_into("group", item.group, json_label),
                             json_required(json_into("code", item.code, code)),
                             json_into("language", item.language, name),
                             json_required(json_into("tests", item.tests, parse_tests)),
                             json_into("nonce", item.nonce, json_label), limits,
                             json_into("integrity", wanted, integrity)}));
  TRY_VOID(check_integrity(item, wanted));
  item.code_hash = kernel::sha256_hex(item.code);
  const auto* const judged = std::get_if<JudgedTests>(&item.tests);
  item.tests_hash = kernel::sha256_hex(
      tests_hash_text(judged != nullptr ? judged->job : canonical_json(value["tests"]), item,
                      request.scoring, request.stop));
  return item;
}

// So that its answer can be told from the others'.
std::string label_in(const json& value, const char* key) {
  if (!value.is_object() || !value.contains(key)) return {};
  return json_label(key, value[key]).value_or(std::string());
}

RefusedItem refused(const json& value, std::string why) {
  return {.id = label_in(value, "id"), .group = label_in(value, "group"), .why = std::move(why)};
}

// Of equal ids and nonces the first one counts.
class TakenLabels {
 public:
  Result<void> add(const Item& item) {
    if (!ids_.insert(item.id).second)
      return fail(ErrorCode::invalid_request,
                  "id: another item of this request has the id '" + item.id + "'");
    if (!item.nonce.empty() && !nonces_.insert(item.nonce).second)
      return fail(ErrorCode::invalid_request, "nonce: another item of this request has it");
    return {};
  }

 private:
  std::set<std::string> ids_;
  std::set<std::string> nonces_;
};

Result<void> read_items(const Document& document, VerifyRequest& request) {
  const json& items = document.root["items"];
  if (!items.is_array()) return wrong_value("items", "an array");
  if (items.empty()) return fail(ErrorCode::invalid_request, "items: must not be empty");
  if (items.size() > items_max)
    return fail(ErrorCode::invalid_request,
                fmt::format("items: {}, and {} are the most", items.size(), items_max));
  TakenLabels labels;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto bad = document.bad_items.find(i);
    if (bad != document.bad_items.end()) {
      request.items.emplace_back(refused(items[i], bad->second));
      continue;
    }
    auto item = parse_item(items[i], request);
    if (item) {
      if (const auto added = labels.add(*item); !added)
        item = tl::unexpected<kernel::Error>(added.error());
    }
    if (item) {
      request.items.emplace_back(std::move(*item));
    } else {
      request.items.emplace_back(refused(items[i], item.error().message));
    }
  }
  return {};
}

}  // namespace

std::string tests_hash_text(std::string_view tests, const Item& item, Scoring scoring, Stop stop) {
  return fmt::format(R"({{"integrity":"{}","language":{},"scoring":"{}","stop":"{}","tests":{}}})",
                     name_of(item.integrity), json(item.language).dump(), name_of(scoring),
                     name_of(stop), tests);
}

Result<VerifyRequest> parse_items(std::string_view body) {
  const Document document = TRY(read_document(body));
  VerifyRequest request;
  TRY_VOID(read_json_object(
      "", document.root,
      {json_required(json_ignored("items")),
       json_into("request_id", request.request_id, request_id),
       json_into("profile", request.profile, name), json_into("scoring", request.scoring, scoring),
       json_into("stop", request.stop, stop),
       json_into("deadline_ms", request.deadline, batch_deadline),
       json_into("stream", request.stream, json_flag), json_into("cache", request.cache, json_flag),
       json_into("allow_degraded", request.allow_degraded, json_flag),
       json_into("warm", request.warm, json_flag),
       json_into("known_answers", request.known_answers, json_flag)}));
  TRY_VOID(read_items(document, request));
  return request;
}

}  // namespace paddock::supervisor
