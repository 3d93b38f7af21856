#pragma once

#include <string_view>

namespace paddock::kernel {

// kernel/warm/zygote.py as it stands there. The build puts it in.
extern const std::string_view zygote_program;

}  // namespace paddock::kernel
