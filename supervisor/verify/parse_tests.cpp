#include "supervisor/verify/parse_tests.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "supervisor/json/fields.hpp"
#include "supervisor/verify/canonical_json.hpp"
#include "supervisor/verify/label.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::json;

bool starts_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (c & 0x80) != 0;
}

bool is_in_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9');
}

// Python takes letters of other scripts, too: what is no name of its is found when it runs.
bool is_identifier(std::string_view text) {
  return !text.empty() && starts_name(text.front()) &&
         std::all_of(text.begin(), text.end(), is_in_name);
}

Result<std::string> entry_point(const std::string& place, const json& value) {
  std::string name = TRY(json_label(place, value));
  std::string_view rest = name;
  while (true) {
    const std::size_t dot = rest.find('.');
    std::string_view part = rest.substr(0, dot);
    constexpr std::string_view instance = "()";  // Solution().f, but not f()
    if (dot != std::string_view::npos && part.ends_with(instance))
      part.remove_suffix(instance.size());
    if (!is_identifier(part))
      return wrong_value(place, "the name of a function, such as \"f\" or \"Solution.f\"");
    if (dot == std::string_view::npos) return name;
    rest.remove_prefix(dot + 1);
  }
}

Result<double> epsilon(const std::string& place, const json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0)
    return wrong_value(place, "a number of 0 or more");
  return value.get<double>();
}

Result<Checker> checker(const std::string& place, const json& value,
                        std::initializer_list<Checker::Kind> kinds) {
  if (value.is_object()) {
    Checker floating{.kind = Checker::Kind::floating, .epsilon = 0};
    TRY_VOID(read_json_object(place, value,
                              {json_required(json_into("float", floating.epsilon, epsilon))}));
    return floating;
  }
  std::vector<std::string> names;
  for (const Checker::Kind kind : kinds) names.emplace_back(name_of(kind));
  if (!value.is_string()) return wrong_value(place, "the name of a checker, or {\"float\": EPS}");
  return Checker{.kind = kinds.begin()[TRY(json_index_of(place, value, names))], .epsilon = 0};
}

template <class ReadCase>
Result<void> read_cases(const std::string& place, const json& value, ReadCase read_case) {
  if (!value.is_array()) return wrong_value(place, "an array");
  if (value.empty()) return fail(ErrorCode::invalid_request, place + ": must not be empty");
  if (value.size() > cases_max)
    return fail(ErrorCode::invalid_request,
                fmt::format("{}: {} cases, and {} are the most", place, value.size(), cases_max));
  for (std::size_t i = 0; i < value.size(); ++i)
    TRY_VOID(read_case(fmt::format("{}[{}]", place, i), value[i]));
  return {};
}

JsonField kind_field() {
  return json_ignored("kind");
}

Result<Tests> stdio_tests(const std::string& place, const json& value) {
  StdioTests tests;
  const auto any_checker = [](const std::string& at, const json& name) {
    using Kind = Checker::Kind;
    return checker(at, name, {Kind::exact, Kind::lines, Kind::tokens});
  };
  const auto read_case = [&](const std::string& at, const json& each) -> Result<void> {
    StdioCase one;
    TRY_VOID(read_json_object(at, each,
                              {json_required(json_into("stdin", one.stdin_bytes, json_bytes)),
                               json_required(json_into("stdout", one.stdout_bytes, json_bytes)),
                               json_into("checker", one.checker, any_checker)}));
    if (one.stdin_bytes.size() > kernel::stdin_bytes_max)
      return wrong_value(at + ".stdin", fmt::format("at most {} bytes", kernel::stdin_bytes_max));
    tests.cases.push_back(std::move(one));
    return {};
  };
  const JsonField cases{
      "cases",
      [&](const std::string& at, const json& list) { return read_cases(at, list, read_case); },
      true};
  TRY_VOID(read_json_object(place, value, {kind_field(), cases}));
  return tests;
}

Result<void> check_call_case(const std::string& at, const json& value) {
  Checker any;
  const JsonField arguments{"args",
                            [](const std::string& place, const json& list) -> Result<void> {
                              if (!list.is_array()) return wrong_value(place, "an array");
                              return {};
                            },
                            true};
  const JsonField named{"kwargs",
                        [](const std::string& place, const json& object) -> Result<void> {
                          if (!object.is_object()) return wrong_value(place, "an object");
                          return {};
                        },
                        false};
  const auto any_checker = [](const std::string& place, const json& name) {
    return checker(place, name, {Checker::Kind::exact, Checker::Kind::unordered});
  };
  return read_json_object(at, value,
                          {arguments, named, json_required(json_ignored("expected")),
                           json_into("checker", any, any_checker)});
}

Result<JudgedTests> judged(const std::string& place, const json& value) {
  JudgedTests tests{.job = canonical_json(value), .cases = value.value("cases", json()).size()};
  if (tests.job.size() > judged_tests_bytes_max)
    return wrong_value(place, fmt::format("at most {} bytes", judged_tests_bytes_max));
  return tests;
}

Result<Tests> call_tests(const std::string& place, const json& value) {
  std::string function;
  const JsonField cases{
      "cases",
      [](const std::string& at, const json& list) { return read_cases(at, list, check_call_case); },
      true};
  TRY_VOID(read_json_object(
      place, value,
      {kind_field(), json_required(json_into("entry_point", function, entry_point)), cases}));
  return TRY(judged(place, value));
}

// As a word: not in "assertion".
bool has_assertion(std::string_view source) {
  constexpr std::string_view word = "assert";
  for (std::size_t at = source.find(word); at != std::string_view::npos;
       at = source.find(word, at + 1)) {
    const bool starts = at == 0 || !is_in_name(source[at - 1]);
    const std::size_t end = at + word.size();
    if (starts && (end == source.size() || !is_in_name(source[end]))) return true;
  }
  return false;
}

Result<Tests> assert_tests(const std::string& place, const json& value) {
  std::string source;
  std::string prelude;
  std::string function;
  const JsonField functions{
      "entry_points",
      [](const std::string& at, const json& list) {
        return read_cases(at, list, [](const std::string& each, const json& name) -> Result<void> {
          return entry_point(each, name).map([](const std::string&) {});
        });
      },
      false};
  TRY_VOID(read_json_object(place, value,
                            {kind_field(), json_required(json_into("source", source, json_text)),
                             json_into("entry_point", function, entry_point), functions,
                             json_into("prelude", prelude, json_text)}));
  if (value.contains("entry_point") && value.contains("entry_points"))
    return fail(ErrorCode::invalid_request,
                place + ": 'entry_point' and 'entry_points' exclude each other");
  if (!has_assertion(source))
    return fail(ErrorCode::invalid_request, place + ".source: has no assertion");
  return TRY(judged(place, value));
}

}  // namespace

Result<Tests> parse_tests(const std::string& place, const json& value) {
  if (!value.is_object()) return wrong_value(place, "an object");
  const auto kind = value.find("kind");
  if (kind == value.end())
    return fail(ErrorCode::invalid_request, fmt::format("the key '{}.kind' is missing", place));
  constexpr std::size_t stdio = 0;
  constexpr std::size_t call = 1;
  switch (TRY(json_index_of(place + ".kind", *kind, {"stdio", "call", "assert"}))) {
    case stdio:
      return stdio_tests(place, value);
    case call:
      return call_tests(place, value);
    default:
      return assert_tests(place, value);
  }
}

}  // namespace paddock::supervisor
