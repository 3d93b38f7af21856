#pragma once
// Signals as people know them.

#include <string>

namespace paddock::kernel {

std::string signal_name(int number);  // "SIGSEGV"; "signal 34" of those that have no name

}  // namespace paddock::kernel
