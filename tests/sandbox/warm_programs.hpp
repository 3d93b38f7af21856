#pragma once
// Small programs that do the same warm as cold (rfcs/0013), as far as they print and end.

#include <string>
#include <vector>

#include "kernel/run/result.hpp"

namespace paddock::tests {

struct WarmProgram {
  const char* name;
  const char* code;
  const char* input = "";
};

extern const std::vector<WarmProgram> endings;       // how a program ends
extern const std::vector<WarmProgram> afterwards;    // what happens after its last line
extern const std::vector<WarmProgram> surroundings;  // what it finds around itself
extern const std::vector<WarmProgram> streams;       // standard streams
extern const std::vector<WarmProgram> modules;       // what keeps something of its process

// What a runtime may import; some of it keeps something of its process.
extern const std::vector<std::string> common_modules;

std::string shown(const kernel::SandboxResult& result);

}  // namespace paddock::tests
