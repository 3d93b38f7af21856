#include "supervisor/verify/checkers.hpp"

#include <chrono>
#include <string>

#include "support/catch.hpp"

using namespace paddock::supervisor;
using Kind = Checker::Kind;

namespace {

bool same(Kind kind, std::string_view expected, std::string_view actual, double epsilon = 0) {
  INFO("'" << expected << "' and '" << actual << "'");
  return output_matches({.kind = kind, .epsilon = epsilon}, expected, actual);
}

bool near(double epsilon, std::string_view expected, std::string_view actual) {
  return same(Kind::floating, expected, actual, epsilon);
}

std::string_view operator""_v(const char* text, std::size_t size) {
  return {text, size};
}

}  // namespace

TEST_CASE("exact: all bytes count, but one newline at the end") {
  CHECK(same(Kind::exact, "1\n", "1"));
  CHECK(same(Kind::exact, "1", "1\n"));
  CHECK(same(Kind::exact, "", ""));
  CHECK(same(Kind::exact, "", "\n"));
  CHECK(same(Kind::exact, "a\0b"_v, "a\0b"_v));
  CHECK(same(Kind::exact, "\xff\xfe", "\xff\xfe"));
  CHECK_FALSE(same(Kind::exact, "1", "1\n\n"));
  CHECK_FALSE(same(Kind::exact, "1\n", "1\r\n"));
  CHECK_FALSE(same(Kind::exact, "1", "1 "));
  CHECK_FALSE(same(Kind::exact, "1", " 1"));
  CHECK_FALSE(same(Kind::exact, "a\0b"_v, "a\0c"_v));
  CHECK_FALSE(same(Kind::exact, "1.0", "1.00"));
  CHECK_FALSE(same(Kind::exact, "1", ""));
}

TEST_CASE("lines: white space at the end of lines and empty lines at the end do not count") {
  CHECK(same(Kind::lines, "a\nb\n", "a  \nb\t\r\n\n \n"));
  CHECK(same(Kind::lines, "a\r\nb\r\n", "a\nb"));
  CHECK(same(Kind::lines, "", " \n\n"));
  CHECK(same(Kind::lines, "a\n\nb", "a\n  \nb"));
  CHECK_FALSE(same(Kind::lines, "a\nb", "a b"));
  CHECK_FALSE(same(Kind::lines, "a", " a"));
  CHECK_FALSE(same(Kind::lines, "a", "\na"));
  CHECK_FALSE(same(Kind::lines, "a\nb", "a\n\nb"));
  CHECK_FALSE(same(Kind::lines, "a\nb", "a"));
  CHECK_FALSE(same(Kind::lines, "a", "a\nb"));
  CHECK_FALSE(same(Kind::lines, "", "a"));
  CHECK_FALSE(same(Kind::lines, "a", ""));
}

TEST_CASE("tokens: the words count, and not what is between them") {
  CHECK(same(Kind::tokens, "1 2\n3", "  1\t2\r\n\n3\v\f"));
  CHECK(same(Kind::tokens, "", " \n"));
  CHECK(same(Kind::tokens, "a\0b"_v, " a\0b"_v));
  CHECK_FALSE(same(Kind::tokens, "1 2", "12"));
  CHECK_FALSE(same(Kind::tokens, "1 2", "1 2 3"));
  CHECK_FALSE(same(Kind::tokens, "1 2 3", "1 2"));
  CHECK_FALSE(same(Kind::tokens, "1", "1.0"));
  CHECK_FALSE(same(Kind::tokens, "a\0b"_v, "a b"));
}

TEST_CASE("float: numbers are the same within epsilon, absolute or relative") {
  CHECK(near(1e-6, "1", "1.0000009"));
  CHECK_FALSE(near(1e-6, "1", "1.0000021"));
  CHECK(near(1e-6, "1000000", "1000000.9"));
  CHECK_FALSE(near(1e-6, "1000000", "1000002"));
  CHECK(near(0, "1", "1.0"));
  CHECK(near(0, "1e3", "1000"));
  CHECK(near(0, "+1", "1"));
  CHECK(near(0, "0", "-0.0"));
  CHECK(near(0.1, "x 1 y", "x 1.05 y"));
  CHECK_FALSE(near(0.1, "x 1 y", "x 1.05 z"));
  CHECK_FALSE(near(100, "1", "one"));
  CHECK_FALSE(near(100, "one", "1"));
  CHECK_FALSE(near(1e9, "1 2", "1"));
  CHECK_FALSE(near(100, "1", "1x"));
  CHECK_FALSE(near(100, "1", "0x1"));
  CHECK_FALSE(near(100, "1", "+-1"));
  CHECK_FALSE(near(100, "1", "1\0"_v));
}

TEST_CASE("float: what is not finite is equal to itself alone") {
  for (const double epsilon : {0.0, 1e-6, 1e300}) {
    CHECK(near(epsilon, "inf", "Infinity"));
    CHECK(near(epsilon, "-inf", "-INF"));
    CHECK(near(epsilon, "1e999", "1e999"));
    CHECK_FALSE(near(epsilon, "1e999", "inf"));
    CHECK_FALSE(near(epsilon, "1e999", "2e999"));
    CHECK(near(epsilon, "nan", "NaN"));
    CHECK_FALSE(near(epsilon, "inf", "-inf"));
    CHECK_FALSE(near(epsilon, "inf", "1e308"));
    CHECK_FALSE(near(epsilon, "1e308", "1e999"));
    CHECK_FALSE(near(epsilon, "nan", "1"));
    CHECK_FALSE(near(epsilon, "1", "nan"));
    CHECK_FALSE(near(epsilon, "inf", "nan"));
    CHECK_FALSE(near(epsilon, "nan", "nan(1)"));
  }
  CHECK(near(1e-6, "0", "1e-999"));
  CHECK(near(0, "1e-999", "0"));
}

TEST_CASE("ten megabytes are compared in less than the time of a run") {
  const std::size_t size = 10u << 20;
  const auto begin = std::chrono::steady_clock::now();
  const std::string spaces(size, ' ');
  const std::string lines(size, '\n');
  std::string numbers;
  while (numbers.size() < size) numbers += "1.25 ";
  const std::string digits(size, '1');
  CHECK(same(Kind::lines, spaces, lines));
  CHECK(same(Kind::tokens, spaces, lines));
  CHECK_FALSE(same(Kind::lines, lines + "a", lines));
  CHECK(near(1e-9, numbers, numbers + "\n"));
  CHECK_FALSE(near(1e-9, digits, digits + "2 "));
  CHECK(same(Kind::exact, digits, digits + "\n"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}
