#pragma once
// Values from the query string of a request. Each fails with invalid_request and names what it is
// about.

#include <optional>
#include <string>

#include "kernel/base/error.hpp"
#include "supervisor/http/request.hpp"

namespace paddock::supervisor {

// A whole number; nullopt if it is absent.
kernel::Result<std::optional<unsigned>> query_number(const HttpRequest& request,
                                                     const std::string& name, unsigned max);

constexpr unsigned wait_seconds_max = 3600;  // of a request that waits for something

// "true" or "false"; false if it is absent.
kernel::Result<bool> query_truth(const HttpRequest& request, const std::string& name);

}  // namespace paddock::supervisor
