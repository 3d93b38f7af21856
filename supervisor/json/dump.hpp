#pragma once
// JSON as text, in one way everywhere. Messages and paths can carry a program's own name, which is
// bytes: what is no UTF-8 becomes U+FFFD, never an exception.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace paddock::supervisor {

std::string dump(const nlohmann::ordered_json& value);           // without a line's end
std::string dump_line(const nlohmann::ordered_json& value);      // one line
std::string dump_indented(const nlohmann::ordered_json& value);  // lines, for people

}  // namespace paddock::supervisor
