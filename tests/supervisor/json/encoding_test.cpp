#include "supervisor/json/encoding.hpp"

#include <random>

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

// The decoder of nlohmann's serializer, which is somebody else's reading of RFC 3629.
bool is_utf8_for_nlohmann(const std::string& bytes) {
  try {
    return !nlohmann::json(bytes).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

}  // namespace

TEST_CASE("UTF-8 has no overlong forms, no surrogates, and nothing above U+10FFFF") {
  using namespace std::string_view_literals;
  for (const auto text :
       {""sv, "a"sv, "\0"sv, "\x7f"sv, "\xc2\x80"sv, "\xdf\xbf"sv, "\xe0\xa0\x80"sv,
        "\xed\x9f\xbf"sv, "\xee\x80\x80"sv, "\xef\xbf\xbf"sv, "\xf0\x90\x80\x80"sv,
        "\xf4\x8f\xbf\xbf"sv, "a\xc3\xbc z"sv, "\xf0\x9f\x8e\x89\xf0\x9f\x8e\x89"sv}) {
    INFO(to_base64(text));
    CHECK(is_utf8(text));
  }
  for (const auto text : {"\x80"sv,
                          "\xbf"sv,
                          "\xc0\x80"sv,
                          "\xc1\xbf"sv,
                          "\xc2"sv,
                          "\xc2\x41"sv,
                          "\xe0\x9f\xbf"sv,
                          "\xe0\xa0"sv,
                          "\xed\xa0\x80"sv,
                          "\xed\xbf\xbf"sv,
                          "\xf0\x8f\xbf\xbf"sv,
                          "\xf0\x90\x80"sv,
                          "\xf4\x90\x80\x80"sv,
                          "\xf5\x80\x80\x80"sv,
                          "\xff"sv,
                          "\xfe"sv,
                          "\xe2\x82\xac\xe2\x82"sv,
                          "\xe2\x28\xa1"sv,
                          "\xf0\x9f\x41\x89"sv,
                          "ok\xff"sv}) {
    INFO(to_base64(text));
    CHECK_FALSE(is_utf8(text));
  }
}

TEST_CASE("is_utf8 agrees with another decoder on every short and many long strings") {
  std::string bytes(2, '\0');
  int differences = 0;
  for (unsigned pair = 0; pair < 65536; ++pair) {
    bytes[0] = static_cast<char>(pair >> 8);
    bytes[1] = static_cast<char>(pair & 0xff);
    if (is_utf8(bytes) != is_utf8_for_nlohmann(bytes)) ++differences;
  }
  std::mt19937 random(7);
  // Lead and continuation bytes mostly, or hardly anything would be valid.
  constexpr unsigned char likely[] = {0x41, 0x80, 0x90, 0x9f, 0xa0, 0xbf, 0xc2, 0xdf,
                                      0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5};
  int valid = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text(1 + random() % 6, '\0');
    for (char& c : text) c = static_cast<char>(likely[random() % std::size(likely)]);
    const bool ours = is_utf8(text);
    valid += ours ? 1 : 0;
    if (ours != is_utf8_for_nlohmann(text)) ++differences;
  }
  CHECK(differences == 0);
  CHECK(valid > 1000);
}

TEST_CASE("base64 of any bytes decodes to them again") {
  CHECK(to_base64("") == "");
  CHECK(to_base64("f") == "Zg==");
  CHECK(to_base64("foobar") == "Zm9vYmFy");
  CHECK(to_base64("\xff\xfe\xfd") == "//79");
  std::mt19937 random(3);
  for (std::size_t size = 0; size < 300; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 256);
    const std::string text = to_base64(bytes);
    CHECK(text.size() == (size + 2) / 3 * 4);
    CHECK(from_base64(text).value() == bytes);
  }
}

TEST_CASE("only canonical base64 is taken") {
  for (const char* text : {"Z", "Zg", "Zg=", "Zh==", "Zg==Zg==", "Z g==", "Zg==\n", "-_-_",
                           "Zm9=", "====", "=", "Zg===", "\xe2\x82\xac\x32\xf0\x9f\x98\x80"}) {
    INFO(text);
    const auto decoded = from_base64(text);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == kernel::ErrorCode::invalid_request);
  }
}

TEST_CASE("bytes go as text unless they are no UTF-8, or many and full of control characters") {
  CHECK(goes_as_text(""));
  CHECK(goes_as_text("\x1b[31mred\x1b[0m"));
  CHECK(goes_as_text(std::string(1000, '\0')));
  CHECK_FALSE(goes_as_text("\xff"));
  CHECK(goes_as_text(std::string(1u << 20, 'x')));
  CHECK(goes_as_text(std::string(1u << 20, '\n')));
  CHECK_FALSE(goes_as_text(std::string(1u << 20, '\0')));
  CHECK_FALSE(goes_as_text(std::string(1u << 20, '\x01')));
  std::string rare(1u << 20, 'x');
  for (std::size_t i = 0; i < rare.size(); i += 20) rare[i] = '\x1b';
  CHECK(goes_as_text(rare));
}
