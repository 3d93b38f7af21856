#pragma once
// What the CLI says to people: lines on stderr that begin with "paddock: ", and text on stdout.

#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

// Makes sure that descriptors 0, 1 and 2 are open, so that nothing else gets their numbers, and
// that writing to a reader that went away is an error instead of a signal. First thing in main.
void prepare_standard_streams();

// One line on stderr.
void complain(std::string_view message);

// complain(), and the exit code that belongs to the error.
int complain_and_exit_code(const kernel::Error& error);

// What a command ends with: its exit code, or that of its text once printed. An error is complained
// of.
int end_with(const kernel::Result<int>& exit_code);
int end_with(const kernel::Result<std::string>& text);

// Writes everything to stdout; waits if it is slow. False, after a complaint, if it cannot be
// written; a reader that went away is no reason to complain.
bool print(std::string_view text);

// Several lines on stderr, as they are.
void print_to_stderr(std::string_view text);

// Text from elsewhere (a file name, another client's argv) made safe for a terminal: control bytes
// and characters that turn text around or break its line as \xNN.
std::string printable(std::string_view text);

// A command as one would type it: words quoted where a shell needs it, then printable.
std::string shell_line(const std::vector<std::string>& argv);

}  // namespace paddock::supervisor::cli
