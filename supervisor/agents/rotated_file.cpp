#include "supervisor/agents/rotated_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace paddock::supervisor {
namespace {

using kernel::fail_errno;
using kernel::Fd;
using kernel::Result;

constexpr std::size_t block_bytes = 64 * 1024;

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The last whole lines of a file: read from its end, a block at a time.
Result<std::string> last_lines(const Fd& file, std::size_t lines_max, std::size_t bytes_max) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno("look at the log");
  std::string text;
  auto begin = static_cast<std::size_t>(info.st_size);
  const std::size_t end = begin;
  const auto has_enough = [&] {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) > lines_max;
  };
  while (begin > 0 && end - begin < bytes_max && !has_enough()) {
    const std::size_t size = std::min({block_bytes, begin, bytes_max - (end - begin)});
    std::string block(size, '\0');
    const ssize_t count = ::pread(file.get(), block.data(), size, static_cast<off_t>(begin - size));
    if (count != static_cast<ssize_t>(size)) return fail_errno("read the log");
    text.insert(0, block);
    begin -= size;
  }
  // What begins in the middle of a line is left out.
  if (begin > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  std::size_t first = text.size();
  for (std::size_t lines = 0; first > 0 && lines < lines_max; ++lines) {
    const std::size_t newline = first < 2 ? std::string::npos : text.rfind('\n', first - 2);
    first = newline == std::string::npos ? 0 : newline + 1;
  }
  return text.substr(first);
}

}  // namespace

Result<void> RotatedFile::append(const std::vector<std::string>& lines,
                                 const kernel::AgentLogLimits& limits, std::size_t& written) {
  written = 0;
  std::string together;
  std::size_t count = 0;
  const auto flush = [&]() -> Result<void> {
    if (together.empty()) return {};
    TRY_VOID(write(together));
    written += count;
    together.clear();
    count = 0;
    return {};
  };
  if (!file_) TRY_VOID(open());
  for (const std::string& line : lines) {
    const std::uint64_t size = size_ + together.size();
    if (size > 0 && size + line.size() > limits.bytes) {
      TRY_VOID(flush());
      TRY_VOID(rotate(limits));
    }
    together += line;
    ++count;
  }
  return flush();
}

Result<void> RotatedFile::open() {
  file_ = Fd(::open(path_.c_str(),
                    O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  struct stat info {};
  if (!file_ || ::fstat(file_.get(), &info) != 0) return fail_errno("open '" + path_ + "'");
  size_ = static_cast<std::uint64_t>(info.st_size);
  if (size_ == 0) return {};
  // A daemon that was killed can have left half a line.
  char last = 0;
  if (::pread(file_.get(), &last, 1, info.st_size - 1) == 1 && last != '\n') return write("\n");
  return {};
}

// All of it or none: half a line would be taken for the beginning of the next.
Result<void> RotatedFile::write(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(file_.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      auto failure = fail_errno("write '" + path_ + "'");
      if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) file_.close();
      return failure;
    }
    done += static_cast<std::size_t>(count);
  }
  size_ += bytes.size();
  return {};
}

std::string RotatedFile::older(std::uint64_t number) const {
  return number == 0 ? path_ : path_ + "." + std::to_string(number);
}

Result<void> RotatedFile::rotate(const kernel::AgentLogLimits& limits) {
  file_.close();
  // Also those that a larger number of files has left.
  for (std::uint64_t number = std::max<std::uint64_t>(limits.files, 1) - 1;
       number == limits.files - 1 || ::access(older(number).c_str(), F_OK) == 0; ++number)
    ::unlink(older(number).c_str());
  for (std::uint64_t number = limits.files - 1; number > 0; --number)
    if (::rename(older(number - 1).c_str(), older(number).c_str()) != 0 && errno != ENOENT)
      return fail_errno("move '" + older(number - 1) + "' aside");
  return open();
}

Result<std::vector<std::string>> RotatedFile::tail(std::size_t lines_max,
                                                   std::size_t bytes_max) const {
  std::vector<std::string> lines;
  for (std::uint64_t number = 0; lines.size() < lines_max && bytes_max > 0; ++number) {
    const Fd file(::open(older(number).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file && errno == ENOENT && number > 0) break;
    if (!file && errno == ENOENT) continue;  // just moved aside, or there is none at all
    if (!file) return fail_errno("open '" + older(number) + "'");
    const std::string text = TRY(last_lines(file, lines_max - lines.size(), bytes_max));
    bytes_max -= std::min(bytes_max, text.size());
    std::vector<std::string> some = lines_in(text);
    lines.insert(lines.begin(), std::make_move_iterator(some.begin()),
                 std::make_move_iterator(some.end()));
  }
  return lines;
}

}  // namespace paddock::supervisor
