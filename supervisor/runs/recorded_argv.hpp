#pragma once
// RecordedArgv: what the ledger keeps of the words of a command.

#include <cstddef>
#include <string>
#include <vector>

namespace paddock::supervisor {

// Kept of a run's argv; all of it is in a digest.
inline constexpr std::size_t recorded_argv_bytes_max = 4096;

struct RecordedArgv {
  std::vector<std::string> words;  // the first bytes of it, or what people read instead
  std::size_t bytes = 0;           // of all of it, each word with its end
  std::string sha256;              // of the same
};

RecordedArgv recorded_argv(const std::vector<std::string>& argv);

// The same of a command whose last word is the text of a program that comes with paddock: the
// words name it instead, as "<paddock NAME, sha256:DIGEST OF THE TEXT>".
RecordedArgv recorded_argv_naming(const std::string& program, const std::vector<std::string>& argv);

}  // namespace paddock::supervisor
