#pragma once
// Paths as text: the rules that need no file system. Two paths are compared component by
// component, which is only right for normalised ones: path_form_mistake first.

#include <string>
#include <string_view>

namespace paddock::kernel {

// Empty if `path` is absolute and normalised (no "//", ".", "..", no '/' at the end), has no
// control character and fits PATH_MAX. Otherwise what is wrong: "is not absolute".
std::string path_form_mistake(std::string_view path);

// "/srv/a" and "/srv/a/b" are at or below "/srv/a"; "/srv/ab" is not. Everything is below "/".
bool is_at_or_below(std::string_view path, std::string_view directory);

}  // namespace paddock::kernel
