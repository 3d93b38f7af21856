#pragma once

namespace paddock::kernel {

// A program's channel may be a Unix socket. It belongs to the network namespace where it was made,
// which is the supervisor's: whoever can still name it can take any abstract name of the host. So
// it gets a name here, one of the kernel's choice, which is for good.
void name_channel(int channel);

}  // namespace paddock::kernel
