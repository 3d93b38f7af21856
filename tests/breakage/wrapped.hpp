#pragma once
// Breaking a control without a line of it in the product: the linker's --wrap=SYMBOL sends each
// call of SYMBOL from one object file to another to __wrap_SYMBOL, which may do less than it
// should, and knows the original as __real_SYMBOL. What is linked is the product's own library and
// sources.
//
// Which control is broken is named by PADDOCK_BREAK in the supervisor's environment. paddock-launch
// has none: it finds the name in a descriptor beside the launch spec.

namespace paddock::breakage {

constexpr const char* variable = "PADDOCK_BREAK";
constexpr int fd_broken = 60;  // one that spawn() wires to nothing else

// Is `control` the one that this process is to go without?
bool broken(const char* control);

// A step of the set-up that fails instead of being left out is named "fail:STEP:ERRNO", with the
// number. True, and errno is set, if it is `step`.
bool fails(const char* step);

}  // namespace paddock::breakage

// Declares the original and the replacement of a C++ function, by its symbol.
#define WRAPPED(result, name, symbol, ...)               \
  result real_##name(__VA_ARGS__) asm("__real_" symbol); \
  result wrapped_##name(__VA_ARGS__) asm("__wrap_" symbol)
