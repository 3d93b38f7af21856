#pragma once
// Item: one candidate with its tests, as a client sent it and after every check that needs no run.
// Plain data. RFC 0010 says what each field means to a client.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernel/policy/request.hpp"

namespace paddock::supervisor {

constexpr std::size_t items_max = 10'000;  // of one request
constexpr std::size_t id_bytes_max = 256;  // of an item, a group, a nonce
constexpr std::size_t request_id_bytes_max = 128;
constexpr std::chrono::milliseconds item_wall_clock_default{10'000};

// How an output or a returned value is compared.
struct Checker {
  enum class Kind { exact, lines, tokens, floating, unordered };
  Kind kind = Kind::exact;
  double epsilon = 0;  // of floating: absolute or relative

  bool operator==(const Checker&) const = default;
};

std::string_view name_of(Checker::Kind kind);  // "float" of floating

struct StdioCase {
  std::string stdin_bytes;
  std::string stdout_bytes;
  Checker checker;

  bool operator==(const StdioCase&) const = default;
};

struct StdioTests {
  std::vector<StdioCase> cases;

  bool operator==(const StdioTests&) const = default;
};

// Tests that the judge runs. What it is told is JSON text that only it reads.
struct JudgedTests {
  std::string job;        // the item's "tests" in canonical JSON: RFC 0010
  std::size_t cases = 0;  // 0: they are known when the tests have run

  bool operator==(const JudgedTests&) const = default;
};

using Tests = std::variant<StdioTests, JudgedTests>;

enum class Integrity { separate, stdio, in_process };
enum class Scoring { fraction, all };
enum class Stop { all, first_fail };

std::string_view name_of(Integrity integrity);
std::string_view name_of(Scoring scoring);
std::string_view name_of(Stop stop);

struct Item {
  std::string id;
  std::string group;  // empty: none
  std::string code;   // bytes
  std::string language = "python";
  Tests tests;
  std::string nonce;       // empty: none
  kernel::Request limits;  // only its limits are set
  Integrity integrity = Integrity::separate;
  std::string code_hash;  // SHA-256 in hex, here and below
  std::string tests_hash;

  bool operator==(const Item&) const = default;
};

// An item that cannot be judged as it was sent.
struct RefusedItem {
  std::string id;  // empty if it has none
  std::string group;
  std::string why;  // "tests.cases: must not be empty"

  bool operator==(const RefusedItem&) const = default;
};

struct VerifyRequest {
  std::vector<std::variant<Item, RefusedItem>> items;  // in the order of the request
  std::string request_id;                              // empty: none
  std::string profile;  // empty: STRICT, or the one of an item's language
  Scoring scoring = Scoring::fraction;
  Stop stop = Stop::all;
  std::optional<std::chrono::milliseconds> deadline;
  bool stream = false;
  bool cache = false;
  bool allow_degraded = false;
  std::optional<bool> warm;   // absent: where it can be had
  bool known_answers = true;  // may take the place of a judge's run

  bool operator==(const VerifyRequest&) const = default;
};

}  // namespace paddock::supervisor
