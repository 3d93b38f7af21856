#pragma once
// RotatedFile: lines in a file of limited size, with a limited number of older ones beside it: log,
// log.1, log.2. Blocks: it is used on a Worker's thread.

#include <cstddef>
#include <string>
#include <vector>

#include "kernel/base/fd.hpp"
#include "kernel/policy/agent_template.hpp"

namespace paddock::supervisor {

class RotatedFile {
 public:
  explicit RotatedFile(std::string path) : path_(std::move(path)) {}

  // Writes whole lines, each with its newline. A file that would grow past `limits` is moved aside
  // first; one line that is larger than that has a file of its own. Fails with io, and then has
  // written the first of them, each whole or not at all: `written` says how many.
  kernel::Result<void> append(const std::vector<std::string>& lines,
                              const kernel::AgentLogLimits& limits, std::size_t& written);

  // The newest lines of all files, oldest first, without their newlines; of at most `bytes_max`.
  kernel::Result<std::vector<std::string>> tail(std::size_t lines_max, std::size_t bytes_max) const;

 private:
  kernel::Result<void> open();
  kernel::Result<void> write(std::string_view bytes);
  kernel::Result<void> rotate(const kernel::AgentLogLimits& limits);
  std::string older(std::uint64_t number) const;

  std::string path_;
  kernel::Fd file_;
  std::uint64_t size_ = 0;
};

}  // namespace paddock::supervisor
