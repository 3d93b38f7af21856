#include "kernel/policy/units.hpp"

#include <random>

#include "support/catch.hpp"

using namespace paddock::kernel;
using namespace std::chrono_literals;

namespace {

std::uint64_t bytes(std::string_view text) {
  const auto value = parse_bytes(text);
  INFO(text);
  REQUIRE(value);
  return *value;
}

std::chrono::milliseconds duration(std::string_view text) {
  const auto value = parse_duration(text);
  INFO(text);
  REQUIRE(value);
  return *value;
}

}  // namespace

TEST_CASE("a size is digits, one optional fraction and a unit") {
  CHECK(bytes("0") == 0);
  CHECK(bytes("4096") == 4096);
  CHECK(bytes("4096B") == 4096);
  CHECK(bytes("64KiB") == 65'536);
  CHECK(bytes("512MiB") == 536'870'912);
  CHECK(bytes("1.5GiB") == 1'610'612'736);
  CHECK(bytes("2TiB") == 2'199'023'255'552);
  CHECK(bytes("10kB") == 10'000);
  CHECK(bytes("10MB") == 10'000'000);
  CHECK(bytes("18446744073709551615") == 18'446'744'073'709'551'615u);
}

TEST_CASE("a size with a fraction is rounded down, so that a limit never grows") {
  CHECK(bytes("1.3KiB") == 1331);
  CHECK(bytes("0.000001KiB") == 0);
}

TEST_CASE("anything else is no size") {
  const auto text =
      GENERATE("", " ", "-1", "+1", "1 MiB", " 1", "MiB", "1.MiB", ".5MiB", "1.5", "1.5B",
               "1.2.3KiB", "0x10", "1e3", "1mib", "512M", "1KiBx", "1,5GiB", "1.1234567GiB",
               "18446744073709551616", "18446744073709551615KiB", "16777216TiB");
  INFO(text);
  const auto value = parse_bytes(text);
  REQUIRE_FALSE(value);
  CHECK(value.error().code == ErrorCode::invalid_request);
  CHECK(value.error().message.find("size '") == 0);
}

TEST_CASE("a NUL byte does not end a size early") {
  CHECK_FALSE(parse_bytes(std::string_view("1\0", 2)));
  CHECK_FALSE(parse_duration(std::string_view("1s\0", 3)));
}

TEST_CASE("a time is seconds or has a unit") {
  CHECK(duration("30") == 30s);
  CHECK(duration("1.5") == 1500ms);
  CHECK(duration("1.5s") == 1500ms);
  CHECK(duration("250ms") == 250ms);
  CHECK(duration("2m") == 120s);
  CHECK(duration("1h") == 3600s);
  CHECK(duration("1ms") == 1ms);
  CHECK(duration("8784h") == 366 * 24h);
}

TEST_CASE("a time below 1 ms, above 366 days or in another form is refused") {
  const auto text =
      GENERATE("", "0", "0s", "0.0001s", "0.5ms", "-1s", "8785h", "31622401", "1d", "1 s", "1S",
               "s", "1.s", "inf", "nan", "99999999999999999999", "18446744073709551615h");
  INFO(text);
  const auto value = parse_duration(text);
  REQUIRE_FALSE(value);
  CHECK(value.error().code == ErrorCode::invalid_request);
}

TEST_CASE("a size is printed in the largest unit that says it exactly") {
  CHECK(format_bytes(0) == "0B");
  CHECK(format_bytes(1) == "1B");
  CHECK(format_bytes(4097) == "4097B");
  CHECK(format_bytes(65'536) == "64KiB");
  CHECK(format_bytes(536'870'912) == "512MiB");
  CHECK(format_bytes(1'610'612'736) == "1536MiB");
  CHECK(format_bytes(std::uint64_t{1} << 40) == "1TiB");
}

TEST_CASE("a time is printed in milliseconds or seconds") {
  CHECK(format_duration(250ms) == "250ms");
  CHECK(format_duration(1s) == "1s");
  CHECK(format_duration(1500ms) == "1.5s");
  CHECK(format_duration(1001ms) == "1.001s");
  CHECK(format_duration(900s) == "900s");
}

TEST_CASE("what need not be exact is short") {
  CHECK(readable_bytes(0) == "0 B");
  CHECK(readable_bytes(1023) == "1023 B");
  CHECK(readable_bytes(1536) == "1.5 KiB");
  CHECK(readable_bytes(std::uint64_t{512} << 20) == "512 MiB");
  CHECK(readable_bytes(~std::uint64_t{0}) == "16777216 TiB");
  CHECK(readable_seconds(0.0214) == "0.021 s");
  CHECK(readable_seconds(1) == "1.0 s");
  CHECK(readable_seconds(75.4) == "75 s");
}

// Goal: what is printed can be read back without loss, whatever the value.
// Method: 20,000 values from a fixed seed, of every magnitude, half of them round numbers.
TEST_CASE("sizes and times survive printing and parsing") {
  std::mt19937_64 random(20240229);
  for (int i = 0; i < 20'000; ++i) {
    const auto shift = random() % 64;
    std::uint64_t size = random() >> shift;
    if (i % 2 == 0) size &= ~std::uint64_t{0} << (random() % 41);
    const auto parsed = parse_bytes(format_bytes(size));
    CAPTURE(size);
    REQUIRE(parsed);
    REQUIRE(*parsed == size);

    const std::chrono::milliseconds time(
        1 + static_cast<std::int64_t>((random() >> shift) %
                                      static_cast<std::uint64_t>(duration_max.count())));
    const auto parsed_time = parse_duration(format_duration(time));
    CAPTURE(time.count());
    REQUIRE(parsed_time);
    REQUIRE(*parsed_time == time);
  }
}
