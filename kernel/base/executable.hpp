#pragma once
// Where the running program lies: its companions are found from there, in a build tree as in an
// installation.

#include <string>

namespace paddock::kernel {

std::string executable_directory();  // absolute, without a slash at its end; "." if it is unknown

}  // namespace paddock::kernel
