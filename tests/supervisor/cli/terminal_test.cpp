// Text for people: safe for a terminal, and aligned.

#include "supervisor/cli/terminal.hpp"

#include "supervisor/cli/table.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor::cli;

TEST_CASE("control bytes are shown, not sent") {
  CHECK(printable("a\x1b[2J\n\x7f") == "a\\x1b[2J\\x0a\\x7f");
  CHECK(printable("\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80") ==
        "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK(printable("\xc2\x9b"
                  "2J") == "\\xc2\\x9b2J");  // CSI as one character
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
}

TEST_CASE("a command is shown as one would type it") {
  CHECK(shell_line({"echo", "a b", "it's", "", "--x=1"}) == "echo 'a b' 'it'\\''s' '' --x=1");
}

TEST_CASE("columns are aligned and lines have no blanks at their end") {
  CHECK(table({{"ID", "COMMAND"}, {"r-1", "x\ty"}, {"r-22", ""}}) ==
        "ID    COMMAND\nr-1   x\\x09y\nr-22\n");
  CHECK(table({}).empty());
}
