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

TEST_CASE("characters that turn text around or break its line are shown, not sent") {
  for (const char* text : {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b",
                           "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    const std::string shown = printable(text);
    INFO(shown);
    CHECK(shown.starts_with("\\x"));
    CHECK(shown.find_first_not_of("\\x0123456789abcdef") == std::string::npos);
  }
  // Their neighbours, and text that is written from the right by itself.
  const std::string harmless =
      "\u061b \u061d \u200d \u2010 \u2027 \u202f \u2065 \u206a \u05e9 \U0001f600";
  CHECK(printable(harmless) == harmless);
}

TEST_CASE("a command is shown as one would type it") {
  CHECK(shell_line({"echo", "a b", "it's", "", "--x=1"}) == "echo 'a b' 'it'\\''s' '' --x=1");
}

TEST_CASE("columns are aligned and lines have no blanks at their end") {
  CHECK(table({{"ID", "COMMAND"}, {"r-1", "x\ty"}, {"r-22", ""}}) ==
        "ID    COMMAND\nr-1   x\\x09y\nr-22\n");
  CHECK(table({}).empty());
}
