#pragma once
// What an error is on the wire: RFC 0002's table.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

int http_status(kernel::ErrorCode code);

// "unknown profile 'STRIC'; did you mean 'STRICT'?", or the names that there are.
std::string unknown_name(std::string_view kind, const std::string& name,
                         const std::vector<std::string>& known);

template <class Values>
std::string unknown_name(std::string_view kind, const std::string& name,
                         const std::map<std::string, Values>& values) {
  std::vector<std::string> known;
  for (const auto& [key, value] : values) known.push_back(key);
  return unknown_name(kind, name, known);
}

}  // namespace paddock::supervisor
