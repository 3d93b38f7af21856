#include "supervisor/runs/recorded_argv.hpp"

#include <fmt/format.h>

#include <string_view>

#include "kernel/base/hash.hpp"

namespace paddock::supervisor {
namespace {

// Whole words as long as there is room, and what there is room for of the next.
std::vector<std::string> first_bytes(const std::vector<std::string>& argv) {
  std::vector<std::string> kept;
  std::size_t room = recorded_argv_bytes_max;
  for (const std::string& word : argv) {
    if (room == 0) break;
    kept.push_back(word.substr(0, room));
    room -= kept.back().size();
    if (kept.back().size() < word.size()) break;
    if (room > 0) --room;  // for what separates words: empty ones take room, too
  }
  return kept;
}

}  // namespace

RecordedArgv recorded_argv(const std::vector<std::string>& argv) {
  constexpr std::string_view word_end("", 1);
  RecordedArgv recorded{.words = first_bytes(argv), .bytes = 0, .sha256 = {}};
  kernel::Sha256 digest;
  for (const std::string& word : argv) {
    digest.append(word);
    digest.append(word_end);
    recorded.bytes += word.size() + word_end.size();
  }
  recorded.sha256 = digest.hex();
  return recorded;
}

RecordedArgv recorded_argv_naming(const std::string& program,
                                  const std::vector<std::string>& argv) {
  RecordedArgv recorded = recorded_argv(argv);
  recorded.words = argv;
  recorded.words.back() =
      fmt::format("<paddock {}, sha256:{}>", program, kernel::sha256_hex(argv.back()));
  return recorded;
}

}  // namespace paddock::supervisor
