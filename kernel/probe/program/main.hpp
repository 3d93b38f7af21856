#pragma once
// The process that started paddock-probe: in a run its init.

#include <sys/types.h>

namespace paddock::probe {

pid_t init_pid();

}  // namespace paddock::probe
