#pragma once

namespace paddock::launch {

// All five sets, for good. Ends the process if it cannot.
void drop_capabilities();

}  // namespace paddock::launch
