#include "supervisor/cli/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "supervisor/cli/exit_code.hpp"
#include "supervisor/json/encoding.hpp"

namespace paddock::supervisor::cli {
namespace {

// 0, or the errno. Somebody may have left the descriptor non-blocking.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

bool needs_quotes(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
  };
  return word.empty() || !std::all_of(word.begin(), word.end(), plain);
}

std::string shell_quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

// Those that turn the direction of text around, so that it reads as something else, and those that
// end a line.
bool misleads(char32_t character) {
  return character == 0x061c || character == 0x200e || character == 0x200f ||
         (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069);
}

// `text` is the UTF-8 of one character of two bytes or more.
char32_t character_of(std::string_view text) {
  char32_t character = static_cast<unsigned char>(text.front()) & (0xffu >> (text.size() + 1));
  for (const char c : text.substr(1))
    character = (character << 6) | (static_cast<unsigned char>(c) & 0x3fu);
  return character;
}

// Of the character at the front of `text`: 0 if it is no character, or one that tells a terminal
// what to do. Those are ASCII's, the C1 controls U+0080 to U+009F, and those that mislead.
std::size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20 || first == 0x7f) return 0;
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (!is_utf8(text.substr(0, size))) return 0;
  const char32_t character = character_of(text.substr(0, size));
  return character < 0xa0 || misleads(character) ? 0 : size;
}

}  // namespace

void prepare_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is `fd`, since those below it are open.
    // A stdout that was closed cannot be written: what is lost must not look like success.
    [[maybe_unused]] const int opened =
        ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
  ::signal(SIGPIPE, SIG_IGN);  // a run gets default dispositions of its own
}

void complain(std::string_view message) {
  write_all(STDERR_FILENO, "paddock: " + printable(message) + "\n");
}

int complain_and_exit_code(const kernel::Error& error) {
  complain(error.message);
  return exit_code_of(error);
}

int end_with(const kernel::Result<int>& exit_code) {
  return exit_code ? *exit_code : complain_and_exit_code(exit_code.error());
}

int end_with(const kernel::Result<std::string>& text) {
  if (!text) return complain_and_exit_code(text.error());
  return print(*text) ? exit_success : exit_error;
}

bool print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) complain("write to stdout: " + kernel::errno_text(error));
  return error == 0;
}

void print_to_stderr(std::string_view text) {
  write_all(STDERR_FILENO, text);
}

std::string printable(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size > 0) {
      safe += text.substr(0, size);
      text.remove_prefix(size);
    } else {
      safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
    }
  }
  return safe;
}

std::string shell_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    line += needs_quotes(word) ? shell_quoted(word) : word;
  }
  return printable(line);
}

}  // namespace paddock::supervisor::cli
