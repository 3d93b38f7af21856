// Text for people: safe for a terminal, and aligned.

#include "supervisor/cli/terminal.hpp"

#include "supervisor/cli/table.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor::cli;

TEST_CASE("control bytes are shown, not sent") {
  CHECK(printable("a\x1b[2J\n\x7f") == "a\\x1b[2J\\x0a\\x7f");
  CHECK(printable("\xc3\xbc") == "\xc3\xbc");
}

TEST_CASE("a command is shown as one would type it") {
  CHECK(shell_line({"echo", "a b", "it's", "", "--x=1"}) == "echo 'a b' 'it'\\''s' '' --x=1");
}

TEST_CASE("columns are aligned and lines have no blanks at their end") {
  CHECK(table({{"ID", "COMMAND"}, {"r-1", "x\ty"}, {"r-22", ""}}) ==
        "ID    COMMAND\nr-1   x\\x09y\nr-22\n");
  CHECK(table({}).empty());
}
