#include "kernel/probe/program/attempt.hpp"

#include <errno.h>
#include <stdlib.h>

namespace paddock::probe {

Attempted was_refused() {
  return {Attempted::refused, errno, nullptr};
}

Attempted result_of(long returned) {
  return returned < 0 ? was_refused() : it_worked;
}

unsigned long long number(const char* text) {
  return ::strtoull(text, nullptr, 10);
}

}  // namespace paddock::probe
