#pragma once
// What the daemon and paddock-step tell each other through a step's channel, a memory file.
// Included by a program that uses the C library alone.
//
//   StepHeader
//   file_count times:    StepEntry, the name, the contents
//   wanted_count times:  StepEntry, the name
//   at out_offset, of out_bytes: for each wanted file in that order a word and then that many
//   bytes. The word is 0 for one that is not there, else its size + 1; it is written after the
//   bytes.
//
// Words are the machine's. What the daemon writes is read as it is; what lies behind out_offset the
// run could have written itself.

#include <stddef.h>
#include <stdint.h>

namespace paddock::supervisor {

constexpr uint64_t step_magic = 0x31706574732d6470;
constexpr size_t step_name_bytes_max = 1024;

// How paddock-step itself ends. A command may end so, too.
constexpr int step_setup_failed = 126;
constexpr int step_not_executed = 127;

struct StepHeader {
  uint64_t magic = step_magic;
  uint64_t file_count = 0;
  uint64_t wanted_count = 0;
  uint64_t out_offset = 0;
  uint64_t out_bytes = 0;
  // Not 0: each word of the command is a program. It is executed, ended at once, and that is all;
  // there can be none.
  uint64_t is_trial = 0;
};

struct StepEntry {
  uint64_t name_bytes = 0;
  uint64_t content_bytes = 0;  // of a wanted file: 0
};

}  // namespace paddock::supervisor
