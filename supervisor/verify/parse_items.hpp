#pragma once
// The body of POST /v1/verify -> VerifyRequest, with every check that needs no run. Pure.

#include <string_view>

#include "kernel/base/error.hpp"
#include "supervisor/verify/item.hpp"

namespace paddock::supervisor {

// A mistake within an item makes that one a RefusedItem, whose `why` names the place within it.
// Fails with invalid_request for a mistake outside the items.
kernel::Result<VerifyRequest> parse_items(std::string_view body);

// What tests_hash is made over: the tests and what else decides how code is judged by them.
// `tests`: as canonical JSON.
std::string tests_hash_text(std::string_view tests, const Item& item, Scoring scoring, Stop stop);

}  // namespace paddock::supervisor
