#pragma once
// TopScreen: the terminal while something fills all of it: the alternate screen, without a cursor
// and with keys that come at once. What was there before comes back with the destructor.

#include <sys/ioctl.h>
#include <termios.h>

#include <string_view>

#include "kernel/base/error.hpp"
#include "supervisor/cli/top_text.hpp"

namespace paddock::supervisor::cli {

// Both stdin and stdout are one.
bool has_terminal();

class TopScreen {
 public:
  static kernel::Result<TopScreen> open();
  ~TopScreen();
  TopScreen(TopScreen&& other) noexcept;
  TopScreen& operator=(TopScreen&&) = delete;

  TopRoom room() const;
  bool show(std::string_view text) const;  // false: the terminal is gone
  bool wants_to_end() const;               // reads the keys that were pressed: q, Ctrl-C, Ctrl-D

 private:
  explicit TopScreen(const termios& before) : before_(before) {}

  termios before_;
  bool is_open_ = true;
};

}  // namespace paddock::supervisor::cli
