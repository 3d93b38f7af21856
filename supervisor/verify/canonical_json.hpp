#pragma once
// Canonical JSON: one text for each value, so that it can be hashed. Keys sorted, no white space,
// nothing escaped that need not be, and numbers as Python's json module writes them: the same as
// json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace paddock::supervisor {

// A binary value stands for an integer of more than 64 bits: its digits. See read_document().
std::string canonical_json(const nlohmann::json& value);

}  // namespace paddock::supervisor
