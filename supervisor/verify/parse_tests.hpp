#pragma once
// An item's "tests" -> Tests, with every check that needs no run.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kernel/base/error.hpp"
#include "supervisor/verify/item.hpp"

namespace paddock::supervisor {

constexpr std::size_t cases_max = 10'000;                  // of one item
constexpr std::size_t judged_tests_bytes_max = 16u << 20;  // as canonical JSON: it is a run's input

// Fails with invalid_request.
kernel::Result<Tests> parse_tests(const std::string& place, const nlohmann::json& value);

}  // namespace paddock::supervisor
