#include "supervisor/cli/top_screen.hpp"

#include <unistd.h>

#include <string>
#include <utility>

#include "supervisor/cli/terminal.hpp"

namespace paddock::supervisor::cli {
namespace {

constexpr const char* enter = "\x1b[?1049h\x1b[?25l";
constexpr const char* leave = "\x1b[?25h\x1b[?1049l";

}  // namespace

bool has_terminal() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

kernel::Result<TopScreen> TopScreen::open() {
  termios before{};
  if (::tcgetattr(STDIN_FILENO, &before) != 0) return kernel::fail_errno("tcgetattr");
  termios changed = before;
  // Without ISIG Ctrl-C and Ctrl-Z are keys: neither leaves the screen as it is.
  changed.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  changed.c_cc[VMIN] = 0;
  changed.c_cc[VTIME] = 0;
  if (::tcsetattr(STDIN_FILENO, TCSANOW, &changed) != 0) return kernel::fail_errno("tcsetattr");
  print(enter);
  return TopScreen(before);
}

TopScreen::TopScreen(TopScreen&& other) noexcept
    : before_(other.before_), is_open_(std::exchange(other.is_open_, false)) {}

TopScreen::~TopScreen() {
  if (!is_open_) return;
  print(leave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

TopRoom TopScreen::room() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row < 2)
    return {.columns = 80, .lines = 24};
  // A line end after the last line would scroll.
  return {.columns = size.ws_col, .lines = size.ws_row - 1u};
}

bool TopScreen::show(std::string_view text) const {
  std::string frame = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') frame += "\x1b[K";
    frame += c;
  }
  return print(frame + "\x1b[J");
}

bool TopScreen::wants_to_end() const {
  char keys[64];
  const ssize_t count = ::read(STDIN_FILENO, keys, sizeof keys);
  for (ssize_t i = 0; i < count; ++i)
    if (keys[i] == 'q' || keys[i] == 'Q' || keys[i] == '\x03' || keys[i] == '\x04') return true;
  return false;
}

}  // namespace paddock::supervisor::cli
