#pragma once
// The names of zygotes, which their launchers' command lines have. They begin with a tag of the
// daemon's ledger: of what a killed daemon left, its successor knows what is its own.

#include <string>
#include <string_view>

namespace paddock::supervisor {

std::string zygote_tag(const std::string& ledger);  // 8 hexadecimal digits, of the ledger's path
std::string make_zygote_name(std::string_view tag);
bool is_zygote_name(std::string_view text);
bool is_zygote_of(std::string_view text, std::string_view tag);

}  // namespace paddock::supervisor
